// The contents of /api/scene as three.js objects.

import * as THREE from 'three';
import { ColladaLoader } from 'three/addons/loaders/ColladaLoader.js';
import { OBJLoader } from 'three/addons/loaders/OBJLoader.js';
import { STLLoader } from 'three/addons/loaders/STLLoader.js';
import { compose, exaggerated, inverse, position, rotate, turn } from './kinematics.js';

const LOADERS = { stl: STLLoader, obj: OBJLoader, dae: ColladaLoader };
const MESH_COLOUR = '#a9b0b8';
const ARROW = 0.5; // length of the longest arrow of a force, relative to the model's size
const UP = new THREE.Vector3(0, 1, 0); // axis of three's cylinders and cones

function unpacked(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}

function material(colour, opacity) {
  return new THREE.MeshStandardMaterial({
    color: colour, roughness: 0.65, metalness: 0.1, side: THREE.DoubleSide,
    opacity, transparent: opacity < 1, depthWrite: opacity === 1,
  });
}

function place(object, pose) {
  object.position.set(...position(pose));
  const [w, x, y, z] = turn(pose);
  object.quaternion.set(x, y, z, w);
}

/** A surface whose points move with modal coordinates. */
class Skin {
  constructor(geometry, entry) {
    this.geometry = geometry;
    this.rest = geometry.attributes.position.array.slice();
    this.moved = unpacked(entry.moved, Float32Array);
    [this.start, this.count] = entry.modes;
  }

  bend(modes, factor) {
    const points = this.geometry.attributes.position;
    const shown = points.array, size = this.rest.length;
    shown.set(this.rest);
    for (let k = 0; k < this.count; k++) {
      const much = factor * modes[this.start + k], from = k * size;
      for (let i = 0; i < size; i++) shown[i] += much * this.moved[from + i];
    }
    points.needsUpdate = true;
    this.geometry.computeVertexNormals();
    this.geometry.computeBoundingSphere();
  }
}

export class World {
  constructor(content, say) {
    this.content = content;
    this.root = new THREE.Group();
    this.places = new Map(content.bodies.map((body, i) => [body.name, i]));
    this.groups = content.bodies.map(({ name }) => Object.assign(new THREE.Group(), { name }));
    this.still = new THREE.Group();
    this.root.add(this.still, ...this.groups);
    this.solids = []; // objects that determine the model's size
    this.skins = content.surfaces.map((entry) => this.#surface(entry)).filter((skin) => skin);
    this.rods = content.rods.map((entry) => this.#rod(entry));
    this.jets = content.jets.map((entry) => this.#jet(entry));
    this.arrows = [];
    this.axes = this.groups.map((group) => this.#axes(group));
    this.ready = Promise.all(content.meshes.map((entry) => this.#mesh(entry, say)));
    this.shown = [];
    this.size = 1; // of the model; scales plumes, arrows and axes
  }

  #group(body) {
    return body < 0 ? this.still : this.groups[body];
  }

  #surface(entry) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(unpacked(entry.points, Float32Array), 3));
    geometry.setIndex(new THREE.BufferAttribute(unpacked(entry.triangles, Uint32Array), 1));
    geometry.computeVertexNormals();
    const mesh = new THREE.Mesh(geometry, material(entry.colour, entry.opacity));
    this.#group(entry.body).add(mesh);
    this.solids.push(mesh);
    return entry.modes ? new Skin(geometry, entry) : null;
  }

  #rod(entry) {
    const geometry = new THREE.CylinderGeometry(entry.radius, entry.radius, 1, 16);
    const mesh = new THREE.Mesh(geometry, material(entry.colour, 1));
    this.root.add(mesh);
    this.solids.push(mesh);
    return { mesh, ends: entry.ends };
  }

  /** The plume of a thruster, of unit length, opposite to its force. */
  #jet(entry) {
    const geometry = new THREE.ConeGeometry(0.12, 1, 20, 1, true).translate(0, -0.5, 0);
    const glow = new THREE.MeshBasicMaterial({ color: '#ffb35c', transparent: true, opacity: 0.6 });
    const mesh = new THREE.Mesh(geometry, glow);
    mesh.position.set(...entry.position);
    mesh.quaternion.setFromUnitVectors(UP, new THREE.Vector3(...entry.direction));
    this.#group(entry.body).add(mesh);
    return mesh;
  }

  #axes(group) {
    const axes = new THREE.AxesHelper(1);
    axes.visible = false;
    group.add(axes);
    return axes;
  }

  async #mesh(entry, say) {
    const holder = new THREE.Group();
    place(holder, entry.pose);
    holder.scale.set(...entry.scale);
    this.#group(entry.body).add(holder);
    try {
      const loaded = await new LOADERS[entry.format]().loadAsync(`/api/mesh/${entry.file}`);
      const whole = loaded.scene ?? loaded;
      const object = whole.isBufferGeometry ? new THREE.Mesh(whole, material(MESH_COLOUR, 1)) : whole;
      if (entry.format === 'dae') object.rotation.set(0, 0, 0); // robots' meshes are in the axes of their links
      if (entry.colour) {
        object.traverse((part) => { if (part.isMesh) part.material = material(entry.colour, entry.opacity); });
      }
      holder.add(object);
      this.solids.push(holder);
    } catch (error) {
      say(`a mesh of '${this.content.bodies[entry.body]?.name ?? 'world'}' cannot be read (${error.message})`);
    }
  }

  /** Show a state. factor: exaggeration of deformations; follow: {body, turn}, the body that stays in place on the screen. */
  update(frame, factor, follow) {
    this.shown = exaggerated(this.content.bodies, frame.poses, factor);
    const base = this.#base(follow);
    const near = (pose) => compose(base, pose); // in double precision, before three.js rounds to single
    this.groups.forEach((group, i) => place(group, near(this.shown[i])));
    place(this.still, near([0, 0, 0, 1, 0, 0, 0]));
    for (const skin of this.skins) skin.bend(frame.modes, factor);
    for (const rod of this.rods) this.#stretch(rod);
    this.jets.forEach((jet, i) => {
      const level = Math.max(0, frame.jets[i]);
      jet.visible = level > 0;
      jet.scale.setScalar(0.15 * this.size * Math.max(0.15, level));
    });
    this.#push(frame.pushes ?? []);
    this.root.updateMatrixWorld(true);
  }

  /** Draw arrows for contact forces, seven numbers each: position, direction, level. They show through all bodies. */
  #push(pushes) {
    while (7 * this.arrows.length < pushes.length) this.arrows.push(this.#arrow());
    this.arrows.forEach((arrow, i) => {
      const [x, y, z, dx, dy, dz, level] = pushes.slice(7 * i, 7 * i + 7);
      arrow.visible = level > 0;
      if (!arrow.visible) return;
      arrow.position.set(x, y, z);
      arrow.quaternion.setFromUnitVectors(UP, new THREE.Vector3(dx, dy, dz));
      arrow.scale.setScalar(ARROW * this.size * level);
    });
  }

  /** An arrow of unit length whose tail is where the force acts. */
  #arrow() {
    const red = new THREE.MeshBasicMaterial({ color: '#ff4d4d', depthTest: false, transparent: true });
    const shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.025, 0.025, 0.75, 12).translate(0, 0.375, 0), red);
    const head = new THREE.Mesh(new THREE.ConeGeometry(0.07, 0.25, 16).translate(0, 0.875, 0), red);
    const arrow = new THREE.Group().add(shaft, head);
    arrow.traverse((part) => { part.renderOrder = 1; });
    this.still.add(arrow);
    return arrow;
  }

  /** Pose of the inertial frame in the frame that the camera looks at. */
  #base({ body, turn: turning }) {
    if (body === null) return [...this.origin().map((part) => -part), 1, 0, 0, 0];
    const pose = this.shown[body];
    return turning ? inverse(pose) : [-pose[0], -pose[1], -pose[2], 1, 0, 0, 0];
  }

  /** The origin of the drawing: zero, or the model's first position if that is far from the inertial origin. */
  origin() {
    const [x, y, z] = this.shown[0];
    this.first ??= Math.hypot(x, y, z) > 1e3 ? [x, y, z] : [0, 0, 0];
    return this.first;
  }

  #stretch({ mesh, ends }) {
    const [start, end] = ends.map(([body, at]) => {
      const group = this.#group(body);
      return new THREE.Vector3(...at).applyQuaternion(group.quaternion).add(group.position);
    });
    const along = end.clone().sub(start);
    mesh.position.copy(start).addScaledVector(along, 0.5);
    mesh.scale.set(1, along.length(), 1);
    mesh.quaternion.setFromUnitVectors(UP, along.normalize());
  }

  showFrames(on) {
    for (const [i, axes] of this.axes.entries()) {
      axes.visible = on && !this.content.bodies[i].inner;
      axes.scale.setScalar(0.12 * this.size);
    }
  }

  /** The box around all that is drawn of the model. */
  box() {
    const box = new THREE.Box3();
    for (const solid of this.solids) box.expandByObject(solid, true);
    if (box.isEmpty()) this.groups.forEach((group) => box.expandByPoint(group.position));
    return box;
  }

  /** Index of the body that an object belongs to; null if it belongs to the world. */
  bodyOf(object) {
    for (let each = object; each; each = each.parent) {
      let body = this.groups.indexOf(each);
      while (body >= 0 && this.content.bodies[body].inner) body = this.content.bodies[body].parent;
      if (body >= 0) return body;
    }
    return null;
  }

  /** Inertial position of a point of a body, as drawn. */
  point(name, at = [0, 0, 0]) {
    const pose = this.shown[this.places.get(name)];
    return rotate(turn(pose), at).map((part, i) => part + pose[i]);
  }

  dispose() {
    this.root.traverse((object) => {
      object.geometry?.dispose();
      object.material?.dispose?.();
    });
  }
}
