// Pinocchio as the peer of the benchmarks: loads a tree from text, runs its algorithms in a loop, times them.
//
// Every call takes the next of several states, so that nothing can be hoisted out of the loop.

#include "pinocchio_tree.h"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <cstdio>
#include <vector>

namespace {

// In the order of OPERATIONS in benchmarks/pinocchio_peer.py.
enum Operation {
  ABA_LOCAL,
  ABA_WORLD,
  RNEA,
  CRBA_LOCAL,
  CRBA_WORLD,
  STEP_LOCAL,
  STEP_WORLD,
  ABA_DERIVATIVES,
  RNEA_DERIVATIVES,
  OPERATION_COUNT
};

struct Peer {
  pin::Model model;
  pin::Data data;
  std::vector<Eigen::VectorXd> q, v, u;
  Eigen::VectorXd q_next, v_next, dv;
  double dt = 1e-3;
};

// Symplectic Euler on the manifold from state k.
void step(Peer &peer, size_t k, pin::Convention convention) {
  const auto &a = pin::aba(peer.model, peer.data, peer.q[k], peer.v[k], peer.u[k], convention);
  peer.v_next = peer.v[k] + peer.dt * a;
  peer.dv = peer.dt * peer.v_next;
  pin::integrate(peer.model, peer.q[k], peer.dv, peer.q_next);
}

void call(Peer &peer, int operation, size_t k) {
  auto &[model, data, q, v, u, q_next, v_next, dv, dt] = peer;
  switch (operation) {
    case ABA_LOCAL: pin::aba(model, data, q[k], v[k], u[k], pin::Convention::LOCAL); break;
    case ABA_WORLD: pin::aba(model, data, q[k], v[k], u[k], pin::Convention::WORLD); break;
    case RNEA: pin::rnea(model, data, q[k], v[k], u[k]); break;
    case CRBA_LOCAL: pin::crba(model, data, q[k], pin::Convention::LOCAL); break;
    case CRBA_WORLD: pin::crba(model, data, q[k], pin::Convention::WORLD); break;
    case STEP_LOCAL: step(peer, k, pin::Convention::LOCAL); break;
    case STEP_WORLD: step(peer, k, pin::Convention::WORLD); break;
    case ABA_DERIVATIVES: pin::computeABADerivatives(model, data, q[k], v[k], u[k]); break;
    case RNEA_DERIVATIVES: pin::computeRNEADerivatives(model, data, q[k], v[k], u[k]); break;
    default: throw std::runtime_error("unknown operation");
  }
}

// Matrices one behind the other, each row by row.
Eigen::VectorXd rows(std::initializer_list<Eigen::MatrixXd> matrices) {
  Eigen::VectorXd out(static_cast<Eigen::Index>(matrices.size()) * matrices.begin()->size());
  Eigen::Index at = 0;
  for (const Eigen::MatrixXd &matrix : matrices) {
    const Eigen::MatrixXd transposed = matrix.transpose();
    out.segment(at, matrix.size()) = Eigen::Map<const Eigen::VectorXd>(transposed.data(), matrix.size());
    at += matrix.size();
  }
  return out;
}

Eigen::VectorXd result(Peer &peer, int operation, size_t k) {
  call(peer, operation, k);
  if (operation <= ABA_WORLD) return peer.data.ddq;
  if (operation == RNEA) return peer.data.tau;
  if (operation == ABA_DERIVATIVES) return rows({peer.data.ddq_dq, peer.data.ddq_dv, peer.data.Minv});
  if (operation == RNEA_DERIVATIVES) return rows({peer.data.dtau_dq, peer.data.dtau_dv});
  if (operation >= STEP_LOCAL) {
    Eigen::VectorXd next(peer.model.nq + peer.model.nv);
    next << peer.q_next, peer.v_next;
    return next;
  }
  Eigen::MatrixXd M = peer.data.M;  // only the upper triangle is filled
  M.triangularView<Eigen::StrictlyLower>() = M.transpose().triangularView<Eigen::StrictlyLower>();
  return Eigen::Map<Eigen::VectorXd>(M.data(), M.size());
}

}  // namespace

// A new peer from tree text, or null with a message.
EXPORT Peer *peer_create(const char *text, char *message, int message_size) {
  try {
    std::istringstream in(text);
    auto peer = new Peer;
    read_tree(peer->model, in);
    peer->data = pin::Data(peer->model);
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
EXPORT int peer_nq(const Peer *peer) { return peer->model.nq; }
EXPORT int peer_nv(const Peer *peer) { return peer->model.nv; }

// States to cycle through: q (count, nq), v (count, nv), u (count, nv; torque or acceleration), row major.
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

// CPU seconds of this thread for `calls` calls, or -1.
EXPORT double peer_time(Peer *peer, int operation, long calls) {
  if (operation < 0 || operation >= OPERATION_COUNT || peer->q.empty()) return -1.0;
  const size_t count = peer->q.size();
  const double begin = cpu_seconds();
  for (long i = 0; i < calls; ++i) call(*peer, operation, static_cast<size_t>(i) % count);
  return cpu_seconds() - begin;
}

// The result of one operation on state k (a step: q then v), `size` numbers; 0 when all is well.
EXPORT int peer_result(Peer *peer, int operation, int k, double *out, int size) {
  if (operation < 0 || operation >= OPERATION_COUNT || k < 0 || k >= static_cast<int>(peer->q.size())) return 1;
  const Eigen::VectorXd value = result(*peer, operation, static_cast<size_t>(k));
  if (value.size() != size) return 2;
  Eigen::Map<Eigen::VectorXd>(out, size) = value;
  return 0;
}
