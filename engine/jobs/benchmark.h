// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the benchmarks of a document. One benchmark repeats the document's query
// (engine/experiment/repeat_run.h). The other benchmark runs generated documents, from short to long, on the
// document's model (engine/experiment/abba.h). Open this file to change a benchmark's progress or result.
#pragma once

#include "engine/experiment/abba.h"
#include "engine/experiment/repeat_run.h"
#include "engine/jobs/measuring_job.h"
#include "engine/trace/part_fields.h"
#include "engine/workbench/document/document.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::jobs {

enum class BenchmarkKind : std::uint8_t {
  Query,    ///< the document's query
  Lengths,  ///< generated documents
};

struct BenchmarkChoice {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 7;  ///< at least 1
  /// Identifies the content that the numbers depend on (benchmarkSubject()). 0: there is no document.
  std::uint64_t subject = 0;
  bool operator==(const BenchmarkChoice&) const = default;
};

/// Made-up documents of one length.
struct MeasuredLength {
  std::int32_t documentTokens = 0;
  std::optional<experiment::AbbaRow> row;  ///< nothing: not measured yet
};

struct Benchmark {
  BenchmarkChoice choice;                   ///< what is measured
  std::string model{};                      ///< name of the checkpoint; empty: it is still being loaded
  std::string device{};                     ///< with its threads
  std::string policy{};                     ///< of the query's runs
  std::int32_t blockSize = 0;               ///< tokens
  std::int32_t blockCount = 0;              ///< blocks of the benchmark's pool, including the null block
  std::vector<experiment::CaseGap> gaps{};  ///< by RunCase

  std::int32_t turn = 0;                                    ///< current turn of the query; 0: warming up
  experiment::RunCase runCase = experiment::RunCase::Cold;  ///< current case
  std::vector<experiment::RepeatTurn> turns{};              ///< turns that ended
  std::vector<MeasuredLength> lengths{};                    ///< ascending; all lengths to measure

  std::size_t measuredLengths() const;
  /// The completed share, 0 … 1.
  double progress() const;
};

/// Identifies the query of a document, the parameters, and the settings that the numbers depend on. Settings
/// that only the window or the trace uses do not count.
std::uint64_t benchmarkSubject(const document::Document& document, BenchmarkKind kind);
/// Identifies the same query, but with these settings in place of the document's settings.
std::uint64_t querySubject(const document::Document& document, const workbench::RunSettings& settings);

/// Returns lengths of documents that fit into this context: 64 tokens, 128 tokens and so on, doubled each
/// time.
std::vector<std::int32_t> measurableLengths(std::int64_t contextLength);

struct BenchmarkJob {
  static constexpr const char* kId = "benchmark";
  static constexpr Scope kScope = Scope::Document;
  using Arguments = BenchmarkChoice;
  using Result = Benchmark;

  static bool takesQuery(const BenchmarkChoice& choice) { return choice.kind == BenchmarkKind::Query; }
  static BenchmarkChoice completed(BenchmarkChoice choice, const JobInput&) { return choice; }
  static bool isSound(const Benchmark& benchmark);
  static std::optional<experiment::TokenAmount> amount(const BenchmarkChoice& choice,
                                                       const EstimateFacts& facts);
  static Benchmark begun(const BenchmarkChoice& choice) { return {.choice = choice}; }
  static double progress(const Benchmark& benchmark) { return benchmark.progress(); }
  static trace::EventWords activity(const Benchmark& benchmark);
  static void measure(Benchmark& benchmark, const BenchmarkChoice& choice, Measurement& at);
};

}  // namespace spanscope::jobs

namespace spanscope::trace {
SPANSCOPE_NAMES(jobs::BenchmarkKind, "query", "lengths");
SPANSCOPE_NAMES(experiment::RunCase, "cold", "same_order", "swapped", "floor");
SPANSCOPE_NAMES(experiment::CaseGap, "none", "no_plus", "nothing_to_swap", "nothing_left");
}  // namespace spanscope::trace

namespace spanscope::metrics {
SPANSCOPE_FIELDS(RunValues, promptTokens, cachedTokens, relocatedTokens, computedTokens, generatedTokens,
                 timeToFirstToken, interTokenLatency, whole);
}  // namespace spanscope::metrics

namespace spanscope::experiment {
SPANSCOPE_FIELDS(Summary, median, lower, upper, samples);
SPANSCOPE_FIELDS(AbbaCase, seconds, cachedTokens);
SPANSCOPE_FIELDS(AbbaRow, documentTokens, promptTokens, expectedCachedTokens, cold, same, swapped, alone);
SPANSCOPE_FIELDS(RunSample, measured, lastTimeToFirstToken, peakBlocks, answer);
template <class V, trace::Is<RepeatTurn> X>
void fields(V&& v, X& x) {
  for (const RunCase runCase : kRunCases) v(runCaseName(runCase), x[static_cast<std::size_t>(runCase)]);
}
}  // namespace spanscope::experiment

namespace spanscope::jobs {
SPANSCOPE_FIELDS(BenchmarkChoice, kind, repeats, subject);
SPANSCOPE_FIELDS(MeasuredLength, documentTokens, row);
SPANSCOPE_FIELDS(Benchmark, choice, model, device, policy, blockSize, blockCount, gaps, turn, runCase, turns,
                 lengths);
}  // namespace spanscope::jobs
