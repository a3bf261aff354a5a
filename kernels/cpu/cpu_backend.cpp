// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/cpu_backend.h"

#include "engine/base/error.h"
#include "engine/compute/half.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/kv_store.h"
#include "kernels/cpu/kv_write.h"
#include "kernels/cpu/machine_limits.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/rotary.h"
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/sampler.h"
#include "kernels/cpu/tensor.h"
#include "kernels/cpu/weight.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

namespace spanscope::cpu {

namespace {

using compute::DType;

// Changes whenever the same input would give other bits.
constexpr const char* kNumericRevision = "cpu-1";

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos && colon + 2 < line.size()) {
      return line.substr(colon + 2);
    }
  }
  return "CPU";
}

class CpuBackend final : public compute::Backend {
 public:
  explicit CpuBackend(const compute::BackendOptions& options)
      : m_executor(options.threads), m_rowKernels(rowKernels()) {}

  compute::DeviceInfo info() const override {
    compute::DeviceInfo info;
    const int threads = m_executor.threads();
    info.instructionSet = m_rowKernels.instructionSet;
    info.name = processorName() + ", " + info.instructionSet + ", " + std::to_string(threads) +
                (threads == 1 ? " thread" : " threads");
    info.threads = threads;
    info.numericRevision = std::string(kNumericRevision) + "/" + info.instructionSet;
    return info;
  }

  void begin(std::stop_token stop) override { m_executor.begin(std::move(stop)); }
  bool stopped() const override { return m_executor.stopped(); }

  std::unique_ptr<compute::Tensor> makeTensor() override { return std::make_unique<CpuTensor>(); }

  std::unique_ptr<compute::Weight> prepare(const compute::HostMatrix& matrix,
                                           compute::WeightUse use) override {
    switch (use) {
      case compute::WeightUse::Matrix:
        return makePanels(matrix, m_matmul.panelWidth(), m_executor.pool());
      case compute::WeightUse::Embedding:
        return makeRows(matrix, matrix.type == DType::BF16 ? DType::BF16 : DType::F32);
      case compute::WeightUse::Vector:
        return makeRows(matrix, DType::F32);
    }
    return nullptr;
  }

  std::unique_ptr<compute::KvStore> makeKvStore(const compute::KvShape& shape) override {
    return std::make_unique<CpuKvStore>(shape);
  }

  void embed(const compute::Weight& table, std::span<const TokenId> ids, compute::Tensor& out) override {
    const CpuWeight& weight = cpuWeight(table);
    CpuTensor& target = cpuTensor(out);
    const std::int64_t columns = weight.columns();
    target.resize(static_cast<std::int64_t>(ids.size()), columns);
    m_executor.runRanges(target.rows(), columns, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t source = ids[static_cast<std::size_t>(row)] * columns;
        if (weight.type() == DType::BF16) {
          std::transform(weight.data<std::uint16_t>() + source,
                         weight.data<std::uint16_t>() + source + columns, target.row(row),
                         compute::floatFromBf16);
        } else {
          std::copy_n(weight.data<float>() + source, columns, target.row(row));
        }
      }
    });
  }

  void rmsNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
               compute::Tensor& out) override {
    const CpuTensor& source = cpuTensor(x);
    CpuTensor& target = cpuTensor(out);
    target.resize(source.rows(), source.columns());
    const float* factors = cpuWeight(weight).data<float>();
    m_executor.runRanges(source.rows(), source.columns(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        m_rowKernels.rmsNorm(source.row(row), factors, epsilon, source.columns(), target.row(row));
      }
    });
  }

  void matmul(const compute::Tensor& x, const compute::Weight& weight, const compute::Weight* bias,
              bool accumulate, compute::Tensor& out) override {
    const CpuTensor& source = cpuTensor(x);
    const CpuWeight& panels = cpuWeight(weight);
    CpuTensor& target = cpuTensor(out);
    if (!accumulate) target.resize(source.rows(), panels.rows());
    m_matmul.run(m_executor, source, panels, bias != nullptr ? &cpuWeight(*bias) : nullptr, accumulate,
                 target);
  }

  void siluMul(const compute::Tensor& gate, const compute::Tensor& up, compute::Tensor& out) override {
    const CpuTensor& gates = cpuTensor(gate);
    const CpuTensor& ups = cpuTensor(up);
    CpuTensor& target = cpuTensor(out);
    target.resize(gates.rows(), gates.columns());
    m_executor.runRanges(gates.rows(), gates.columns() * 4, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        m_rowKernels.siluMul(gates.row(row), ups.row(row), gates.columns(), target.row(row));
      }
    });
  }

  void gatherRows(const compute::Tensor& x, std::span<const std::int32_t> rows,
                  compute::Tensor& out) override {
    const CpuTensor& source = cpuTensor(x);
    CpuTensor& target = cpuTensor(out);
    target.resize(static_cast<std::int64_t>(rows.size()), source.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(source.row(rows[i]), source.columns(), target.row(static_cast<std::int64_t>(i)));
    }
  }

  void storeKeysValues(const compute::Tensor& keys, const compute::Tensor& values,
                       const compute::RotaryTable& rotary, std::span<const std::int32_t> localIndices,
                       std::span<const std::int64_t> slots, std::int32_t layer,
                       compute::KvStore& store) override {
    writeKeysValues(m_executor, m_rowKernels, m_rotary, cpuTensor(keys), cpuTensor(values), rotary,
                    localIndices, slots, layer, cpuKvStore(store));
  }

  std::unique_ptr<compute::AttentionPlan> planAttention(const compute::AttentionShape& shape,
                                                        const compute::RotaryTable& rotary,
                                                        const compute::KvShape& store,
                                                        std::span<const compute::QueryRun> runs) override {
    return std::make_unique<CpuAttentionPlan>(shape, rotary, store, runs, m_rotary);
  }

  void attend(const compute::AttentionPlan& plan, const compute::Tensor& queries,
              const compute::KvStore& store, std::int32_t layer, compute::Tensor& out,
              const compute::MassRequest* request, std::vector<compute::RunMass>* mass) override {
    m_attention.run(m_executor, m_rowKernels, cpuAttentionPlan(plan), cpuTensor(queries), cpuKvStore(store),
                    layer, cpuTensor(out), request, mass);
  }

  void sample(std::span<const compute::SamplingRow> rows, std::span<compute::SampledToken> tokens) override {
    m_sampler.run(m_executor, rows, tokens);
  }

  void download(const compute::Tensor& x, std::span<float> out) override {
    const CpuTensor& source = cpuTensor(x);
    checkCount(source, out.size());
    std::copy_n(source.data(), out.size(), out.data());
  }

  void upload(std::span<const float> values, std::int64_t rows, std::int64_t columns,
              compute::Tensor& out) override {
    CpuTensor& target = cpuTensor(out);
    target.resize(rows, columns);
    checkCount(target, values.size());
    std::copy_n(values.data(), values.size(), target.data());
  }

 private:
  static void checkCount(const CpuTensor& tensor, std::size_t found) {
    const auto expected = static_cast<std::size_t>(tensor.rows() * tensor.columns());
    if (found == expected) return;
    throw Failure(Error{"", "tensor copy", std::to_string(found) + " elements", std::to_string(expected)});
  }

  Executor m_executor;
  RowKernels m_rowKernels;
  Matmul m_matmul;
  Attention m_attention;
  RotaryCache m_rotary;
  Sampler m_sampler;
};

}  // namespace

std::unique_ptr<compute::Backend> makeCpuBackend(const compute::BackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

compute::BackendKind cpuBackendKind() {
  return {.name = "cpu",
          .make = [](const compute::BackendOptions& options) { return makeCpuBackend(options); },
          .meter = [](int threads) -> compute::RateMeter {
            return [meter = std::make_shared<MachineMeter>(threads)] {
              constexpr int kSamples = 3;
              const MachineLimits limits = meter->measure(kSamples);
              return compute::MachineRates{.flops = limits.flops, .bytesPerSecond = limits.readBytes};
            };
          }};
}

}  // namespace spanscope::cpu
