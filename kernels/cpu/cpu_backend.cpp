// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/cpu_backend.h"

#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "hwy/highway.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/expert_mixture.h"
#include "kernels/cpu/fast/low_precision.h"
#include "kernels/cpu/kv_store.h"
#include "kernels/cpu/machine_limits.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/pass.h"
#include "kernels/cpu/rotary.h"
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/sampler.h"
#include "kernels/cpu/tensor.h"
#include "kernels/cpu/weight.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

namespace spanscope::cpu {

namespace {

using compute::DType;
using compute::WeightFormat;

// Changes whenever the same input gives other bits.
constexpr const char* kNumericRevision = "cpu-3";
constexpr const char* kFastRevision = "/fast-1: ";

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
      : m_executor(options.threads), m_rowKernels(rowKernels()), m_matmul(options.arithmetic) {}

  compute::DeviceInfo info() const override {
    compute::DeviceInfo info;
    const int threads = m_executor.threads();
    info.instructionSet = m_rowKernels.instructionSet;
    const LowPrecision& low = m_matmul.lowPrecision();
    info.name = processorName() + ", " + info.instructionSet + (low.isAny() ? " with " + low.words() : "") +
                ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    info.threads = threads;
    info.remark = m_executor.pool().shortfall();
    info.numericRevision = std::string(kNumericRevision) + "/" + m_rowKernels.target;
    if (low.isAny()) info.numericRevision += std::string(kFastRevision) + low.sums();
    info.rowsAreBitEqual = compute::kProcessor.rowsAreBitEqual;
    info.mixesExperts = true;
    info.takesSinks = true;
    return info;
  }

  void begin(std::stop_token stop) override {
    m_matmul.clear();
    m_executor.begin(std::move(stop));
  }
  bool stopped() override { return m_executor.stopped(); }

  std::unique_ptr<compute::Tensor> makeTensor() override { return std::make_unique<CpuTensor>(); }

  std::unique_ptr<compute::Weight> prepare(const compute::HostMatrix& matrix,
                                           compute::WeightUse use) override {
    switch (use) {
      case compute::WeightUse::Matrix:
      case compute::WeightUse::Logits:
        return makePanels(matrix, m_matmul.layoutFor(matrix.format), m_arena, m_executor.pool());
      case compute::WeightUse::Embedding:
        return makeRows(matrix, matrix.format, m_arena);
      case compute::WeightUse::Vector: {
        compute::HostMatrix vector = matrix;
        vector.stays = false;  // vectors are small, and read as whole vectors
        return makeRows(vector, WeightFormat::F32, m_arena);
      }
    }
    return nullptr;
  }

  void own(compute::Weight& weight) override {
    settle();
    static_cast<CpuWeight&>(weight).own(m_arena, m_executor.pool());
  }

  std::unique_ptr<compute::KvStore> makeKvStore(const compute::KvShape& shape) override {
    return std::make_unique<CpuKvStore>(shape);
  }

  std::unique_ptr<compute::Pass> makePass(const compute::AttentionShape& shape,
                                          const compute::RotaryTable& rotary, const compute::KvShape& store,
                                          const compute::PassInputs& inputs) override {
    return std::make_unique<CpuPass>(shape, rotary, store, inputs, m_rotary);
  }

  void embed(const compute::Pass& pass, const compute::Weight& table, compute::Tensor& out) override {
    settle();
    const std::span<const TokenId> ids = cpuPass(pass).tokens();
    const CpuWeight& weight = cpuWeight(table);
    CpuTensor& target = cpuTensor(out);
    const std::int64_t columns = weight.columns();
    target.resize(static_cast<std::int64_t>(ids.size()), columns);
    m_executor.runRanges(target.rows(), columns, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        compute::widen(weight.format(), weight.row(ids[static_cast<std::size_t>(row)]), columns,
                       target.row(row));
      }
    });
  }

  void rmsNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
               compute::Tensor& out) override {
    norm(m_rowKernels.rmsNorm, x, weight, epsilon, out);
  }

  void layerNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
                 compute::Tensor& out) override {
    norm(m_rowKernels.layerNorm, x, weight, epsilon, out);
  }

  void matmul(const compute::Tensor& x, const compute::Weight& weight, const compute::Weight* bias,
              bool accumulate, compute::Tensor& out) override {
    const CpuTensor& source = cpuTensor(x);
    const CpuWeight& panels = cpuWeight(weight);
    CpuTensor& target = cpuTensor(out);
    m_matmul.add(m_executor, source, panels, bias != nullptr ? &cpuWeight(*bias) : nullptr, accumulate,
                 target);
  }

  void multiplyGated(compute::Activation activation, const compute::Tensor& gate, const compute::Tensor& up,
                     compute::Tensor& out) override {
    settle();
    const auto multiply = m_rowKernels.multiplyGated[static_cast<std::size_t>(activation)];
    const CpuTensor& gates = cpuTensor(gate);
    const CpuTensor& ups = cpuTensor(up);
    CpuTensor& target = cpuTensor(out);
    target.resize(gates.rows(), gates.columns());
    m_executor.runRanges(gates.rows(), gates.columns() * 4, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        multiply(gates.row(row), ups.row(row), gates.columns(), target.row(row));
      }
    });
  }

  void mixExperts(const compute::Tensor& x, const compute::Tensor& scores,
                  std::span<const compute::ExpertWeights> experts, const compute::ExpertChoice& choice,
                  compute::Activation activation, compute::Tensor& out) override {
    settle();
    m_experts.run(m_executor, m_matmul, m_rowKernels,
                  {cpuTensor(x), cpuTensor(scores), experts, choice, activation}, cpuTensor(out));
  }

  void scale(compute::Tensor& x, float factor) override {
    settle();
    CpuTensor& target = cpuTensor(x);
    m_executor.runRanges(target.rows(), target.columns(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        m_rowKernels.scale(target.row(row), factor, target.columns());
    });
  }

  void softCap(compute::Tensor& x, float cap) override {
    settle();
    CpuTensor& target = cpuTensor(x);
    m_executor.runRanges(target.rows(), target.columns() * 4, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        m_rowKernels.softCap(target.row(row), cap, target.columns());
    });
  }

  void takeColumns(const compute::Tensor& x, std::int64_t first, std::int64_t count,
                   compute::Tensor& out) override {
    settle();
    const CpuTensor& source = cpuTensor(x);
    CpuTensor& target = cpuTensor(out);
    compute::checkColumns(source.columns(), first, count);
    target.resize(source.rows(), count);
    for (std::int64_t row = 0; row < source.rows(); ++row)
      std::copy_n(source.row(row) + first, count, target.row(row));
  }

  void addScaled(const compute::Tensor& x, float factor, compute::Tensor& out) override {
    settle();
    const CpuTensor& source = cpuTensor(x);
    CpuTensor& target = cpuTensor(out);
    m_executor.runRanges(target.rows(), target.columns(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        m_rowKernels.addScaled(source.row(row), factor, target.columns(), target.row(row));
    });
  }

  void gatherRows(const compute::Pass& pass, compute::RowList list, const compute::Tensor& x,
                  compute::Tensor& out) override {
    settle();
    const std::span<const std::int32_t> rows = cpuPass(pass).rows(list);
    const CpuTensor& source = cpuTensor(x);
    CpuTensor& target = cpuTensor(out);
    target.resize(static_cast<std::int64_t>(rows.size()), source.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(source.row(rows[i]), source.columns(), target.row(static_cast<std::int64_t>(i)));
    }
  }

  void storeKeysValues(const compute::Pass& pass, const compute::Tensor& keys, const compute::Tensor& values,
                       std::int32_t layer, compute::KvStore& store) override {
    settle();
    writeKeysValues(m_executor, m_rowKernels, cpuPass(pass), cpuTensor(keys), cpuTensor(values), layer,
                    cpuKvStore(store));
  }

  void copyBlocks(std::span<const compute::BlockCopy> copies, compute::KvStore& store) override {
    settle();
    for (const compute::BlockCopy& copy : copies)
      cpuKvStore(store).copyBlock(copy.source, copy.target, copy.slots);
  }

  void readBlocks(std::span<const compute::BlockToHost> blocks, const compute::KvStore& store) override {
    settle();
    for (const compute::BlockToHost& block : blocks) cpuKvStore(store).readBlock(block);
  }

  void writeBlocks(std::span<const compute::BlockFromHost> blocks, compute::KvStore& store) override {
    settle();
    for (const compute::BlockFromHost& block : blocks) cpuKvStore(store).writeBlock(block);
  }

  void attend(compute::Pass& pass, const compute::Tensor& queries, const compute::KvStore& store,
              std::int32_t layer, bool observed, compute::Tensor& out,
              const compute::Weight* sinks) override {
    settle();
    CpuPass& own = cpuPass(pass);
    compute::LayerMass* mass = nullptr;
    if (observed) mass = &own.results.mass.emplace_back(compute::LayerMass{.layer = layer, .runs = {}});
    m_attention.run(m_executor, m_rowKernels, own.attention(), cpuTensor(queries), cpuKvStore(store), layer,
                    cpuTensor(out), sinks != nullptr ? cpuWeight(*sinks).data<float>() : nullptr,
                    observed ? &own.mass() : nullptr, observed ? &mass->runs : nullptr);
  }

  void deviations(const compute::Pass& pass, compute::StoredPart part, const compute::Tensor& x,
                  std::int32_t layer, const compute::KvStore& store, compute::Tensor& out) override {
    settle();
    const CpuTensor& source = cpuTensor(x);
    CpuTensor& target = cpuTensor(out);
    target.resize(source.rows(), 1);
    measureDeviations(m_executor, m_rowKernels, cpuPass(pass), part, source, layer, cpuKvStore(store),
                      target);
  }

  void narrow(compute::Pass& pass, const compute::Tensor& scores) override {
    settle();
    const CpuTensor& source = cpuTensor(scores);
    cpuPass(pass).narrow({source.data(), static_cast<std::size_t>(source.rows() * source.columns())},
                         m_rotary);
  }

  void sample(compute::Pass& pass, const compute::Tensor& logits) override {
    settle();
    CpuPass& own = cpuPass(pass);
    const CpuTensor& source = cpuTensor(logits);
    std::vector<compute::SamplingRow> rows;
    rows.reserve(own.draws().size());
    for (const compute::Draw& draw : own.draws()) {
      rows.push_back({.logits = {source.row(draw.logits), static_cast<std::size_t>(source.columns())},
                      .settings = draw.settings,
                      .index = draw.index});
    }
    own.results.tokens.resize(rows.size());
    m_sampler.run(m_executor, rows, own.results.tokens);
  }

  void fetch(compute::Pass& pass, const compute::Tensor& x) override {
    settle();
    const CpuTensor& source = cpuTensor(x);
    cpuPass(pass).results.fetched.emplace_back(source.data(),
                                               source.data() + source.rows() * source.columns());
  }

  compute::PassResults finish(compute::Pass& pass) override {
    settle();
    compute::PassResults results = std::move(cpuPass(pass).results);
    results.stopped = m_executor.stopped();
    return results;
  }

  void download(const compute::Tensor& x, std::span<float> out) override {
    settle();
    const CpuTensor& source = cpuTensor(x);
    checkCount(source, out.size());
    std::copy_n(source.data(), out.size(), out.data());
  }

  void upload(std::span<const float> values, std::int64_t rows, std::int64_t columns,
              compute::Tensor& out) override {
    settle();
    CpuTensor& target = cpuTensor(out);
    target.resize(rows, columns);
    checkCount(target, values.size());
    std::copy_n(values.data(), values.size(), target.data());
  }

 private:
  void norm(decltype(RowKernels::rmsNorm) kernel, const compute::Tensor& x, const compute::Weight& weight,
            float epsilon, compute::Tensor& out) {
    settle();
    const CpuTensor& source = cpuTensor(x);
    CpuTensor& target = cpuTensor(out);
    target.resize(source.rows(), source.columns());
    const float* factors = cpuWeight(weight).data<float>();
    const std::int64_t columns = compute::normColumns(source.columns(), weight);
    m_executor.runRanges(source.rows(), source.columns(), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        for (std::int64_t at = 0; at < source.columns(); at += columns)
          kernel(source.row(row) + at, factors, epsilon, columns, target.row(row) + at);
      }
    });
  }

  /// All operations except products come after the waiting products.
  void settle() { m_matmul.settle(m_executor); }

  static void checkCount(const CpuTensor& tensor, std::size_t found) {
    const auto expected = static_cast<std::size_t>(tensor.rows() * tensor.columns());
    if (found == expected) return;
    throw Failure(Error{"", "tensor copy", std::to_string(found) + " elements", std::to_string(expected)});
  }

  Executor m_executor;
  BufferArena m_arena;
  RowKernels m_rowKernels;
  Matmul m_matmul;
  ExpertMixture m_experts;
  Attention m_attention;
  RotaryCache m_rotary;
  Sampler m_sampler;
};

std::vector<compute::Device> probe() {
  return {{.name = compute::kProcessor.name,
           .description = processorName() + ", " + rowKernels().instructionSet,
           .memoryBytes = machineMemory(),
           .reason = {}}};
}

compute::RateMeter meter(const compute::BackendOptions& options) {
  return [meter = std::make_shared<MachineMeter>(options.threads)] {
    constexpr int kSamples = 3;
    const MachineLimits limits = meter->measure(kSamples);
    return compute::MachineRates{.flops = limits.flops,
                                 .bf16Flops = limits.bf16Flops,
                                 .byteOperations = limits.byteOperations,
                                 .bytesPerSecond = limits.readBytes};
  };
}

}  // namespace

compute::BackendKind cpuBackendKind() {
  return {
      .name = compute::kProcessor.name,
      .probe = probe,
      .make = [](const compute::BackendOptions& options) { return std::make_unique<CpuBackend>(options); },
      .meter = meter};
}

namespace {

struct Named {
  const char* name;
  std::int64_t target;
  /// Instructions of a set that Highway does not know; see fast/low_precision.cpp.
  ByteDots dots = ByteDots::None;
};
constexpr std::array kSets = {Named{"AMX", HWY_AVX3 | HWY_AVX3_DL, ByteDots::Amx},
                              Named{"AVX-512", HWY_AVX3},
                              Named{"AVX-VNNI", HWY_AVX2 | HWY_SSSE3, ByteDots::AvxVnni},
                              Named{"AVX2", HWY_AVX2},
                              Named{"SSE4", HWY_SSE4},
                              Named{"NEON", HWY_NEON},
                              Named{"scalar", HWY_SCALAR}};

void use(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Restricts the instructions to the set if the processor has it. Otherwise allows all.
bool tryToUse(const Named& set) {
  use(0);
  const std::int64_t there = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_SCALAR;
  // The kernels of the set's first target are used.
  const std::int64_t first = set.target & HWY_TARGETS;
  if (first == 0 ? set.target != HWY_SCALAR : (there & first) != first) return false;
  use(set.target);
  if (set.dots == ByteDots::None || lowPrecision().byteDots == set.dots) return true;
  use(0);
  return false;
}

}  // namespace

void useInstructionSet(std::string_view name) {
  std::string names;
  for (const Named& set : kSets) {
    if (!tryToUse(set)) continue;
    if (name == set.name) return;
    names += (names.empty() ? "" : ", ") + std::string(set.name);
  }
  use(0);
  throw Failure(
      Error{"", "instruction set", '"' + std::string(name) + '"', "one of the available sets: " + names});
}

}  // namespace spanscope::cpu
