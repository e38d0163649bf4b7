// What Pinocchio's peers share: a model read from the text that benchmarks/trees.py writes, and the clock.
//
// Header-only use (no library of the wheel is linked, so its C++ runtime does not matter). Joints come in depth-first
// order: Pinocchio's composite-body and loop algorithms need that order.

#pragma once

#include <unsupported/Eigen/CXX11/Tensor>

// Pinocchio's Data zeroes five dense nv × nv × nv tensors for second derivatives: 34 GB for 1000 bodies, and nothing
// here reads them. An empty stand-in takes their place, so that long chains fit; no timed code changes.
template <> class Eigen::Tensor<double, 3, 0, Eigen::DenseIndex>
{
  public:
    template <typename... Sizes> explicit Tensor(Sizes...)
    {
    }
    Tensor() = default;
    void setZero()
    {
    }
};

#include <pinocchio/multibody.hpp>

#include <time.h>

#include <sstream>
#include <stdexcept>
#include <string>

namespace pin = pinocchio;

inline double number(std::istream &in)
{
    std::string word; // std::stod reads what repr() wrote to the last bit; operator>> need not
    if (!(in >> word))
        throw std::runtime_error("tree text ends too early");
    return std::stod(word);
}

template <int Rows, int Cols> Eigen::Matrix<double, Rows, Cols> matrix(std::istream &in)
{
    Eigen::Matrix<double, Rows, Cols> out;
    for (int i = 0; i < Rows; ++i)
        for (int j = 0; j < Cols; ++j)
            out(i, j) = number(in);
    return out;
}

inline pin::SE3 placement(std::istream &in)
{
    const Eigen::Matrix3d R = matrix<3, 3>(in);
    const Eigen::Vector3d p = matrix<3, 1>(in);
    return pin::SE3(R, p);
}

inline pin::JointModel joint_of(const std::string &kind, const Eigen::Vector3d &axis, const Eigen::Vector3d &second)
{
    if (kind == "RX")
        return pin::JointModelRX();
    if (kind == "RY")
        return pin::JointModelRY();
    if (kind == "RZ")
        return pin::JointModelRZ();
    if (kind == "RU")
        return pin::JointModelRevoluteUnaligned(axis);
    if (kind == "PX")
        return pin::JointModelPX();
    if (kind == "PY")
        return pin::JointModelPY();
    if (kind == "PZ")
        return pin::JointModelPZ();
    if (kind == "PU")
        return pin::JointModelPrismaticUnaligned(axis);
    if (kind == "UN")
        return pin::JointModelUniversal(axis, second);
    if (kind == "SP")
        return pin::JointModelSpherical();
    if (kind == "FF")
        return pin::JointModelFreeFlyer();
    throw std::runtime_error("unknown joint kind " + kind);
}

inline void add_body(pin::Model &model, std::istream &in, int index)
{
    const int parent = static_cast<int>(number(in));
    std::string kind;
    in >> kind;
    const Eigen::Vector3d axis = matrix<3, 1>(in);
    const Eigen::Vector3d second = matrix<3, 1>(in);
    const pin::SE3 place = placement(in);
    const double mass = number(in);
    const Eigen::Vector3d com = matrix<3, 1>(in);
    const Eigen::Matrix3d about_com = matrix<3, 3>(in);
    const auto id = model.addJoint(parent + 1, joint_of(kind, axis, second), place, "j" + std::to_string(index));
    const Eigen::Matrix<double, 6, 1> packed{about_com(0, 0), about_com(0, 1), about_com(1, 1),
                                             about_com(0, 2), about_com(1, 2), about_com(2, 2)};
    const double armature = number(in);
    if (kind != "FF")
        model.armature.segment(model.joints[id].idx_v(), model.joints[id].nv()).setConstant(armature);
    model.appendBodyToJoint(id, pin::Inertia(mass, com, pin::Symmetric3(packed)), pin::SE3::Identity());
}

// Reads the counts, gravity and all bodies; returns the number of loops, whose text comes next.
inline int read_tree(pin::Model &model, std::istream &in)
{
    const int bodies = static_cast<int>(number(in));
    const int loops = static_cast<int>(number(in));
    model.gravity.linear() = matrix<3, 1>(in);
    for (int i = 0; i < bodies; ++i)
        add_body(model, in, i);
    return loops;
}

inline double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

#define EXPORT extern "C" __attribute__((visibility("default")))
