// SPDX-License-Identifier: GPL-3.0-or-later
// Operations of the CPU backend at the shapes of a Llama model with 1.2 billion parameters, each beside what
// the machine can do at best. Samples of the limit and of the operation are taken in turn, and both are
// counted by the processor time that the program was given, so that other work on the machine shows in
// neither. Shown are the median rate as it was on the clock, the median share of the limit, the quartiles of
// that share, and the time of a call by processor time.
//
// bench_cpu [threads] [rounds] [filter]
#include "kernels/cpu/machine_limits.h"
#include "tests/support/backends.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

using namespace spanscope;
using compute::DType;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kHidden = 2048;
constexpr std::int64_t kInner = 8192;
constexpr std::int64_t kVocabulary = 128256;
constexpr std::int32_t kQueryHeads = 32;
constexpr std::int32_t kKeyHeads = 8;
constexpr std::int32_t kHeadSize = 64;
constexpr std::int32_t kBlockSize = 16;

enum class Limit { Flops, Bytes };

double quantile(std::vector<double> values, double at) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(at * static_cast<double>(values.size() - 1)))];
}

class Bench {
 public:
  Bench(int threads, int rounds, std::string filter)
      : m_meter(threads), m_rounds(rounds), m_filter(std::move(filter)) {}

  bool wants(const std::string& name) const { return name.find(m_filter) != std::string::npos; }

  /// `work` in floating-point operations or bytes of one call.
  void run(const std::string& name, Limit limit, double work, const std::function<void()>& call) {
    call();
    const auto begin = Clock::now();
    call();
    // A sample takes as long as a sample of the limit, about 20 ms.
    const int calls = std::clamp(static_cast<int>(0.02 / (seconds(begin) + 1e-9)), 1, 100000);
    std::vector<double> rates;
    std::vector<double> shares;
    std::vector<double> times;
    for (int round = 0; round < m_rounds; ++round) {
      const double before = sample(limit);
      const auto start = Clock::now();
      const double busy = processorSeconds();
      for (int i = 0; i < calls; ++i) call();
      const double time = (processorSeconds() - busy) / calls;
      rates.push_back(work * calls / seconds(start));
      times.push_back(time);
      shares.push_back(2 * work / time / (before + sample(limit)));
    }
    std::printf("%-40s %8.1f %s  %5.1f %% of the limit (%.1f to %.1f)  %10.3f ms\n", name.c_str(),
                quantile(rates, 0.5) / 1e9, limit == Limit::Flops ? "GFLOP/s" : "GB/s   ",
                100 * quantile(shares, 0.5), 100 * quantile(shares, 0.25), 100 * quantile(shares, 0.75),
                1e3 * quantile(times, 0.5));
    std::fflush(stdout);
  }

  cpu::MachineMeter& meter() { return m_meter; }

 private:
  static double seconds(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  /// Processor time of the program, as if spread evenly over the threads.
  double processorSeconds() const {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC / m_meter.threads();
  }
  double sample(Limit limit) {
    const auto start = Clock::now();
    const double busy = processorSeconds();
    const double rate = limit == Limit::Flops ? m_meter.sampleFlops() : m_meter.sampleReadBytes();
    return rate * seconds(start) / (processorSeconds() - busy);
  }

  cpu::MachineMeter m_meter;
  int m_rounds;
  std::string m_filter;
};

std::unique_ptr<compute::Weight> makeWeight(compute::Backend& backend, std::int64_t rows,
                                            std::int64_t columns) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < bits.size(); ++i)
    bits[i] = static_cast<std::uint16_t>(0x3C00U + i * 2654435761U % 64U);
  return backend.prepare(
      {reinterpret_cast<const std::byte*>(bits.data()), compute::WeightFormat::BF16, rows, columns},
      compute::WeightUse::Matrix);
}

void benchMatmul(Bench& bench, compute::Backend& backend) {
  struct Shape {
    const char* name;
    std::int64_t features;
    std::int64_t columns;
  };
  testing::Random random(1);
  for (const Shape& shape : {Shape{"query", kHidden, kHidden}, Shape{"key", kKeyHeads * kHeadSize, kHidden},
                             Shape{"up", kInner, kHidden}, Shape{"down", kHidden, kInner},
                             Shape{"logits", kVocabulary, kHidden}}) {
    // Several copies of a small weight, used in turn: in a model it is never still in a cache.
    const std::int64_t bytes = shape.features * shape.columns * 2;
    const std::int64_t copies = std::max<std::int64_t>(1, (std::int64_t{192} << 20) / bytes);
    std::vector<std::unique_ptr<compute::Weight>> weights;
    for (const std::int64_t rows : {1, 4, 16, 64, 512}) {
      const std::string name = std::string("matmul ") + shape.name + " M=" + std::to_string(rows);
      if (!bench.wants(name)) continue;
      while (static_cast<std::int64_t>(weights.size()) < copies) {
        weights.push_back(makeWeight(backend, shape.features, shape.columns));
      }
      const auto x = backend.makeTensor();
      const auto out = backend.makeTensor();
      backend.upload(testing::randomValues(random, static_cast<std::size_t>(rows * shape.columns)), rows,
                     shape.columns, *x);
      std::size_t next = 0;
      const auto call = [&] { backend.matmul(*x, *weights[next++ % weights.size()], nullptr, false, *out); };
      if (rows <= 4) {
        bench.run(name, Limit::Bytes, static_cast<double>(bytes), call);
      } else {
        bench.run(name, Limit::Flops, 2.0 * static_cast<double>(rows * shape.features * shape.columns), call);
      }
    }
  }
}

void benchAttention(Bench& bench, compute::Backend& backend) {
  testing::Random random(2);
  compute::RotaryTable rotary;
  for (int pair = 0; pair < kHeadSize / 2; ++pair) {
    rotary.inverseFrequencies.push_back(std::pow(500000.0, -2.0 * pair / kHeadSize));
  }
  for (const DType type : {DType::F32, DType::BF16}) {
    for (const std::int32_t depth : {0, 512, 2048, 8192}) {
      for (const std::int32_t rows : {1, 512}) {
        const std::string name = std::string("attention ") + compute::nameOf(type) +
                                 " M=" + std::to_string(rows) + " depth " + std::to_string(depth);
        if (!bench.wants(name)) continue;
        const std::int32_t tokens = depth + rows;
        const std::int32_t blocks = (tokens + kBlockSize - 1) / kBlockSize;
        const compute::KvShape shape{1, blocks + 1, kBlockSize, kKeyHeads, kHeadSize, type};
        const auto store = backend.makeKvStore(shape);
        const auto keys = backend.makeTensor();
        const std::int64_t width = kKeyHeads * kHeadSize;
        backend.upload(testing::randomValues(random, static_cast<std::size_t>(tokens * width)), tokens, width,
                       *keys);
        std::vector<std::int32_t> locals(static_cast<std::size_t>(tokens));
        std::iota(locals.begin(), locals.end(), 0);
        std::vector<std::int64_t> places(static_cast<std::size_t>(tokens));
        std::iota(places.begin(), places.end(), kBlockSize);
        testing::storeTokens(backend, rotary, *keys, *keys, locals, places, 0, *store);
        compute::KeyRange range{{}, 0, tokens, 0, true};
        for (std::int32_t block = 1; block <= blocks; ++block) range.blocks.push_back(block);
        compute::PassInputs inputs = testing::plainRows(static_cast<std::size_t>(rows));
        std::iota(inputs.localIndices.begin(), inputs.localIndices.end(), depth);
        inputs.runs = {{0, rows, 0, {range}}};
        const compute::AttentionShape attention{kQueryHeads, kKeyHeads, kHeadSize, 0.125F};
        const auto pass = backend.makePass(attention, rotary, shape, inputs);
        const auto queries = backend.makeTensor();
        const auto out = backend.makeTensor();
        backend.upload(
            testing::randomValues(random, static_cast<std::size_t>(rows) * kQueryHeads * kHeadSize), rows,
            kQueryHeads * kHeadSize, *queries);
        const auto call = [&] { backend.attend(*pass, *queries, *store, 0, false, *out); };
        double pairs = 0;
        for (std::int32_t row = 0; row < rows; ++row) pairs += depth + row + 1;
        if (rows == 1) {
          const double bytes = static_cast<double>(compute::sizeOf(type)) * 2 * width * tokens;
          bench.run(name, Limit::Bytes, bytes, call);
        } else {
          bench.run(name, Limit::Flops, 4 * pairs * kQueryHeads * kHeadSize, call);
        }
      }
    }
  }
}

/// Beside reading the logits once.
void benchSampling(Bench& bench, compute::Backend& backend) {
  struct Kind {
    const char* name;
    compute::SamplingSettings settings;
  };
  const Kind kinds[] = {{"greedy", {}},
                        {"plain", {.temperature = 1}},
                        {"cool", {.temperature = 0.6F}},
                        {"top-k 50", {.temperature = 0.6F, .topK = 50}},
                        {"top-p 0.95", {.temperature = 0.6F, .topP = 0.95F}},
                        {"top-k 50, top-p 0.95", {.temperature = 0.6F, .topK = 50, .topP = 0.95F}},
                        {"hot top-k 20000, top-p 0.95", {.temperature = 100, .topK = 20000, .topP = 0.95F}},
                        {"hot top-p 0.95", {.temperature = 100, .topP = 0.95F}}};
  testing::Random random(3);
  for (const Kind& kind : kinds) {
    for (const std::size_t rows : {std::size_t{1}, std::size_t{16}}) {
      const std::string name = std::string("sample ") + kind.name + " M=" + std::to_string(rows);
      if (!bench.wants(name)) continue;
      const auto count = static_cast<std::size_t>(kVocabulary);
      const std::vector<float> logits = testing::randomValues(random, rows * count, 3.0);
      compute::PassInputs inputs = testing::plainRows(rows);
      for (std::size_t row = 0; row < rows; ++row) {
        inputs.logitRows.push_back(static_cast<std::int32_t>(row));
        inputs.draws.push_back(
            {.logits = static_cast<std::int32_t>(row), .settings = kind.settings, .index = row});
      }
      const auto pass = testing::makePlainPass(backend, inputs);
      const auto tensor = backend.makeTensor();
      backend.upload(logits, static_cast<std::int64_t>(rows), kVocabulary, *tensor);
      const auto call = [&] { backend.sample(*pass, *tensor); };
      bench.run(name, Limit::Bytes, static_cast<double>(rows * count * sizeof(float)), call);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 15;
  Bench bench(threads, rounds, argc > 3 ? argv[3] : "");
  const auto backend = test::makeBackend("cpu", threads);
  const cpu::MachineLimits limits = bench.meter().measure();
  std::printf("%s: at best %.1f GFLOP/s, %.1f GB/s\n", backend->info().name.c_str(), limits.flops / 1e9,
              limits.readBytes / 1e9);
  benchMatmul(bench, *backend);
  benchAttention(bench, *backend);
  benchSampling(bench, *backend);
  return 0;
}
