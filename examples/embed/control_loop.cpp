// The control loop of control_loop.c in C++: a class owns the model, failures are exceptions.
#include <limberjack.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

class Model
{
  public:
    explicit Model(const std::string &path)
    {
        lj_model *opened = nullptr;
        const int status = lj_open(path.c_str(), &opened);
        model_.reset(opened);
        check(status);
    }

    // Indices of quantities, to be asked for once.
    std::vector<uint32_t> find(const std::vector<std::string> &names) const
    {
        std::vector<uint32_t> found;
        for (const std::string &name : names)
            check(lj_find(model_.get(), name.c_str(), &found.emplace_back()));
        return found;
    }

    void get(std::span<const uint32_t> indices, std::span<double> values) const
    {
        check(lj_get(model_.get(), indices.data(), indices.size(), values.data()));
    }

    void set(std::span<const uint32_t> indices, std::span<const double> values)
    {
        check(lj_set(model_.get(), indices.data(), indices.size(), values.data()));
    }

    void step(int64_t n = 1)
    {
        check(lj_step(model_.get(), n));
    }

    double time() const
    {
        return lj_time(model_.get());
    }

  private:
    struct Close {
        void operator()(lj_model *model) const
        {
            lj_close(model);
        }
    };

    void check(int status) const
    {
        if (status != LJ_OK)
            throw std::runtime_error(lj_error(model_.get()));
    }

    std::unique_ptr<lj_model, Close> model_;
};

constexpr std::size_t joints = 7;
constexpr std::array<double, joints> goal{0.5, 0.8, -0.3, -1.5, 0.2, 0.9, -0.4}; // rad
constexpr double kp = 400.0, kd = 40.0;                                          // N·m/rad, N·m·s/rad

std::vector<std::string> names(const std::string &group)
{
    std::vector<std::string> found;
    for (std::size_t i = 1; i <= joints; ++i)
        found.push_back(group + ".joint" + std::to_string(i));
    return found;
}

void run(const std::string &path, long steps)
{
    Model model(path);
    const auto angles = model.find(names("q")), rates = model.find(names("v")), drives = model.find(names("command"));
    std::array<double, joints> q{}, v{}, torque{};
    for (long k = 0; k < steps; ++k) {
        model.get(angles, q);
        model.get(rates, v);
        for (std::size_t i = 0; i < joints; ++i)
            torque[i] = kp * (goal[i] - q[i]) - kd * v[i];
        model.set(drives, torque);
        model.step();
    }
    model.get(angles, q);
    model.get(rates, v);
    std::printf("%.17g", model.time());
    for (const auto &part : {q, v})
        for (const double value : part)
            std::printf(" %.17g", value);
    std::printf("\n");
}

} // namespace

int main(int count, char **arguments)
{
    try {
        run(count > 1 ? arguments[1] : "torque_arm.ljm", count > 2 ? std::atol(arguments[2]) : 1000);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
