// Pinocchio's forward dynamics with closed loops as the peer of the benchmarks.
//
// Every call takes the next of several states, so that nothing can be hoisted out of the loop.

#include "../pinocchio_tree.h"

#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

#include <cstdio>
#include <vector>

namespace {

// In the order of VARIANTS in benchmarks/closed_chains/pinocchio_peer.py.
enum Operation { LCABA, LCABA_STEP, CONSTRAINT, CONSTRAINT_STEP, OPERATION_COUNT };

struct Peer {
  pin::Model model;
  pin::Data lcaba_data, constraint_data;
  std::vector<pin::RigidConstraintModel> loops;
  std::vector<pin::RigidConstraintData> lcaba_loops, constraint_loops;
  pin::ProximalSettings lcaba_settings, constraint_settings;
  std::vector<Eigen::VectorXd> q, v, u;
  Eigen::VectorXd q_next, v_next, dv;
  double dt = 1e-3;
};

void add_loop(Peer &peer, std::istream &in) {
  std::string kind;
  in >> kind;
  const auto a = static_cast<pin::JointIndex>(number(in) + 1);
  const pin::SE3 frame_a = placement(in);
  const auto b = static_cast<pin::JointIndex>(number(in) + 1);
  const pin::SE3 frame_b = placement(in);
  const auto type = kind == "weld" ? pin::CONTACT_6D : pin::CONTACT_3D;
  // The first joint must not be the ground: with it lcaba takes its shorter way for one-sided loops.
  if (a == 0)
    peer.loops.emplace_back(type, peer.model, b, frame_b, a, frame_a, pin::LOCAL);
  else
    peer.loops.emplace_back(type, peer.model, a, frame_a, b, frame_b, pin::LOCAL);
}

const Eigen::VectorXd &accelerations(Peer &peer, bool lcaba, size_t k) {
  auto &p = peer;
  // For welds lcaba counts the accelerations that the call before left behind: they are put to zero.
  for (const auto &loop : p.loops)
    if (lcaba && loop.type == pin::CONTACT_6D)
      p.lcaba_data.oa[loop.joint1_id].setZero(), p.lcaba_data.oa[loop.joint2_id].setZero();
  if (lcaba)
    return pin::lcaba(p.model, p.lcaba_data, p.q[k], p.v[k], p.u[k], p.loops, p.lcaba_loops, p.lcaba_settings);
  return pin::constraintDynamics(p.model, p.constraint_data, p.q[k], p.v[k], p.u[k], p.loops, p.constraint_loops,
                                 p.constraint_settings);
}

// Symplectic Euler on the manifold from state k; nothing closes the loops again.
void step(Peer &peer, bool lcaba, size_t k) {
  peer.v_next = peer.v[k] + peer.dt * accelerations(peer, lcaba, k);
  peer.dv = peer.dt * peer.v_next;
  pin::integrate(peer.model, peer.q[k], peer.dv, peer.q_next);
}

void call(Peer &peer, int operation, size_t k) {
  switch (operation) {
    case LCABA: accelerations(peer, true, k); break;
    case LCABA_STEP: step(peer, true, k); break;
    case CONSTRAINT: accelerations(peer, false, k); break;
    case CONSTRAINT_STEP: step(peer, false, k); break;
    default: throw std::runtime_error("unknown operation");
  }
}

}  // namespace

// A new peer from tree text, or null with a message.
EXPORT Peer *peer_create(const char *text, char *message, int message_size) {
  try {
    std::istringstream in(text);
    auto peer = new Peer;
    const int loops = read_tree(peer->model, in);
    for (int i = 0; i < loops; ++i) add_loop(*peer, in);
    for (const auto &loop : peer->loops) {
      peer->lcaba_loops.push_back(loop.createData());
      peer->constraint_loops.push_back(loop.createData());
    }
    peer->lcaba_data = pin::Data(peer->model);
    peer->constraint_data = pin::Data(peer->model);
    pin::computeJointMinimalOrdering(peer->model, peer->lcaba_data, peer->loops);
    pin::initConstraintDynamics(peer->model, peer->constraint_data, peer->loops, peer->constraint_loops);
    peer->q_next.setZero(peer->model.nq);
    peer->v_next.setZero(peer->model.nv);
    peer->dv.setZero(peer->model.nv);
    return peer;
  } catch (const std::exception &error) {
    std::snprintf(message, static_cast<size_t>(message_size), "%s", error.what());
    return nullptr;
  }
}

EXPORT void peer_destroy(Peer *peer) { delete peer; }

// States to cycle through: q (count, nq), v (count, nv), u (count, nv; torque), row major.
EXPORT void peer_states(Peer *peer, const double *q, const double *v, const double *u, int count, double dt) {
  const int nq = peer->model.nq, nv = peer->model.nv;
  peer->q.clear(), peer->v.clear(), peer->u.clear();
  for (int k = 0; k < count; ++k) {
    peer->q.emplace_back(Eigen::Map<const Eigen::VectorXd>(q + k * nq, nq));
    peer->v.emplace_back(Eigen::Map<const Eigen::VectorXd>(v + k * nv, nv));
    peer->u.emplace_back(Eigen::Map<const Eigen::VectorXd>(u + k * nv, nv));
  }
  peer->dt = dt;
}

// Proximal settings of one algorithm: as many iterations as given, none left out.
EXPORT void peer_settings(Peer *peer, int lcaba, double mu, int iterations) {
  (lcaba ? peer->lcaba_settings : peer->constraint_settings) = pin::ProximalSettings(0.0, 0.0, mu, iterations);
}

// CPU seconds of this thread for `calls` calls, or -1.
EXPORT double peer_time(Peer *peer, int operation, long calls) {
  if (operation < 0 || operation >= OPERATION_COUNT || peer->q.empty()) return -1.0;
  const size_t count = peer->q.size();
  const double begin = cpu_seconds();
  for (long i = 0; i < calls; ++i) call(*peer, operation, static_cast<size_t>(i) % count);
  return cpu_seconds() - begin;
}

// Accelerations (nv,) or, after a step, q and v, of state k; 0 when all is well.
EXPORT int peer_result(Peer *peer, int operation, int k, double *out, int size) {
  if (operation < 0 || operation >= OPERATION_COUNT || k < 0 || k >= static_cast<int>(peer->q.size())) return 1;
  call(*peer, operation, static_cast<size_t>(k));
  Eigen::VectorXd value(peer->model.nq + peer->model.nv);
  value << peer->q_next, peer->v_next;
  if (operation == LCABA) value = peer->lcaba_data.ddq;
  if (operation == CONSTRAINT) value = peer->constraint_data.ddq;
  if (value.size() != size) return 2;
  Eigen::Map<Eigen::VectorXd>(out, size) = value;
  return 0;
}
