// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/common/sample_benchmarks.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace spanscope::test {
namespace {

using experiment::RunCase;

constexpr double kMillisecond = 1e-3;
constexpr std::int32_t kTurns = 7;

experiment::RunSample sample(double milliseconds, std::int64_t cached, std::int64_t relocated,
                             std::int64_t prompt) {
  experiment::RunSample made;
  made.measured.promptTokens = prompt;
  made.measured.cachedTokens = cached;
  made.measured.relocatedTokens = relocated;
  made.measured.computedTokens = prompt - cached;
  made.measured.generatedTokens = 8;
  made.measured.timeToFirstToken = milliseconds * kMillisecond;
  made.measured.interTokenLatency = kMillisecond;
  made.measured.whole = (milliseconds + 7) * kMillisecond;
  made.lastTimeToFirstToken = made.measured.timeToFirstToken;
  made.peakBlocks = 9;
  made.answer = "The pet of Tarek is Biscuit.";
  return made;
}

ui::Benchmark begun(const document::Document& document, ui::BenchmarkKind kind) {
  ui::Benchmark benchmark;
  benchmark.choice = {.kind = kind, .repeats = kTurns, .subject = jobs::benchmarkSubject(document, kind)};
  benchmark.policy = document.settings.policy;
  benchmark.blockSize = document.settings.blockSize;
  benchmark.model = "spanlet";
  benchmark.device = "CPU, 2 threads";
  benchmark.blockCount = 512;
  return benchmark;
}

experiment::AbbaCase timed(double milliseconds, std::int64_t cached) {
  std::vector<double> seconds;
  for (int i = 0; i < kTurns; ++i) seconds.push_back((milliseconds + 0.05 * milliseconds * i) * kMillisecond);
  return {.seconds = experiment::summarize(std::move(seconds)), .cachedTokens = cached};
}

}  // namespace

ui::Benchmark sampleBenchmark(const document::Document& document) {
  ui::Benchmark benchmark = begun(document, ui::BenchmarkKind::Query);
  benchmark.gaps.assign(experiment::kRunCases.size(), experiment::CaseGap::None);
  for (int i = 0; i < kTurns; ++i) {
    experiment::RepeatTurn turn;
    turn[static_cast<std::size_t>(RunCase::Cold)] = sample(200 + 2 * i, 0, 0, 83);
    turn[static_cast<std::size_t>(RunCase::SameOrder)] = sample(3.3 + 0.1 * i, 82, 0, 83);
    turn[static_cast<std::size_t>(RunCase::Swapped)] = sample(20 + 0.1 * i, 70, 57, 83);
    turn[static_cast<std::size_t>(RunCase::Floor)] = sample(10 + 0.1 * i, 13, 0, 26);
    benchmark.turns.push_back(std::move(turn));
  }
  benchmark.turn = kTurns;
  return benchmark;
}

ui::Benchmark sampleLengths(const document::Document& document) {
  ui::Benchmark benchmark = begun(document, ui::BenchmarkKind::Lengths);
  for (const std::int32_t tokens : {64, 128, 256}) {
    ui::MeasuredLength length{.documentTokens = tokens, .row = std::nullopt};
    if (tokens < 256) {
      experiment::AbbaRow& row = length.row.emplace();
      row.documentTokens = tokens;
      row.expectedCachedTokens = 24 + 2 * tokens;
      row.promptTokens = row.expectedCachedTokens + 32;
      row.cold = timed(0.1 * tokens, 0);
      row.same = timed(2, row.expectedCachedTokens);
      row.swapped = timed(2.05, row.expectedCachedTokens);
    }
    benchmark.lengths.push_back(std::move(length));
  }
  return benchmark;
}

experiment::ExperimentResult sampleExperiment() {
  struct Line {
    const char* name;
    double first;   // milliseconds at one document
    double factor;  // from each number of documents to its double
    double found;   // percent
  };
  constexpr std::array kLines = {
      Line{"spans, empty cache", 6, 1.9, 0}, Line{"spans, documents seen", 0.4, 1.6, 97},
      Line{"prefix, empty cache", 6.5, 2.4, 0}, Line{"prefix, documents seen", 0.5, 4.5, 3}};
  experiment::ExperimentResult result;
  result.request = experiment::completed({.experiment = "rag", .values = {}});
  result.model = "spanlet";
  result.machine = "a machine, 2 threads";
  for (const Line& line : kLines) {
    double median = line.first;
    for (const double documents : {1.0, 2.0, 4.0, 8.0, 16.0}) {
      result.points.push_back({.series = line.name,
                               .x = documents,
                               .samples = {{0.8 * median, 0.9 * median, median, 1.1 * median, 1.4 * median},
                                           std::vector<double>(5, line.found)}});
      median *= line.factor;
    }
  }
  result.done = 20;
  result.total = 20;
  return result;
}

}  // namespace spanscope::test
