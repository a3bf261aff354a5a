// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the jobs of benches whose result is a table (engine/jobs/benches.h). A row of the table is one
// measured case. Open this file to add such a bench.
#pragma once

#include "engine/experiment/load_times.h"
#include "engine/experiment/needle.h"
#include "engine/experiment/sources.h"
#include "engine/experiment/speed.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/measuring_job.h"
#include "engine/trace/part_fields.h"
#include "engine/workbench/setting_choices.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace spanscope::jobs {

template <class Choice, class Row>
struct BenchRows {
  Choice choice{};          ///< what is measured
  std::size_t total = 0;    ///< number of rows at the end; 0: not known yet
  std::vector<Row> rows{};  ///< the first rows, so far
  std::string doing{};      ///< the current step, for the terminal: "measuring 512 tokens"
};

/// The members that all kinds with such a result share.
template <class Rows>
struct BenchKind {
  static constexpr Scope kScope = Scope::Program;
  using Arguments = decltype(Rows::choice);
  using Result = Rows;

  static bool takesQuery(const Arguments&) { return false; }
  static Arguments completed(Arguments choice, const JobInput&) { return choice; }
  static bool isSound(const Rows& result) { return result.rows.size() <= result.total; }
  static Rows begun(const Arguments& choice) {
    Rows result;
    result.choice = choice;
    return result;
  }
  static double progress(const Rows& result) {
    if (result.total == 0) return 0;
    return static_cast<double>(result.rows.size()) / static_cast<double>(result.total);
  }
  static trace::EventWords activity(const Rows& result) {
    return {forTranslation("Events", "Benchmark: %1 of %2"),
            {std::uint64_t{result.rows.size()}, std::uint64_t{result.total}}};
  }
};

struct LoadTimesChoice {
  std::vector<std::int32_t> tokens = {128, 512, 2048};  ///< of each document, at least 2
  std::int32_t repeats = 5;
  std::uint64_t seed = 0;  ///< of the token ids
  std::string folder{};    ///< a folder on the measured disk; empty: the cache folder of the user
};
using LoadTimesRows = BenchRows<LoadTimesChoice, experiment::LoadTimes>;
/// Compares the time to load documents with the time to compute them.
struct LoadTimesJob : BenchKind<LoadTimesRows> {
  static constexpr const char* kId = "load-times";
  static void measure(LoadTimesRows& result, const LoadTimesChoice& choice, Measurement& at);
};

struct SpeedChoice {
  std::vector<experiment::SpeedTest> tests{};
  std::int32_t repeats = 5;
};
using SpeedRows = BenchRows<SpeedChoice, experiment::SpeedResult>;
/// Compares the speed of prompts and generation with the limits of the machine.
struct SpeedJob : BenchKind<SpeedRows> {
  static constexpr const char* kId = "speed";
  static void measure(SpeedRows& result, const SpeedChoice& choice, Measurement& at);
};

using NeedleRows = BenchRows<experiment::NeedleOptions, experiment::NeedleRow>;
/// Counts the names that the model finds, for each length of the filler text and each size of groups.
struct NeedleJob : BenchKind<NeedleRows> {
  static constexpr const char* kId = "needle";
  static void measure(NeedleRows& result, const experiment::NeedleOptions& choice, Measurement& at);
};

struct SourcesChoice {
  std::vector<std::int32_t> documents = {8, 20};  ///< of a question
  std::int32_t rivals = 0;                        ///< as in experiment::SourceWorld
  std::int32_t questions = 50;                    ///< for each number of documents
  std::uint64_t seed = 1;                         ///< of the questions that rank the measures
  std::uint64_t reportSeed = 2;                   ///< of the reported questions
};
/// Counts of questions.
struct SourceTally {
  experiment::SourceCount asked;
  experiment::SourceCount right;  ///< those with a right answer
};
struct SourcesRow {
  std::int32_t documents = 0;
  SourceTally chosenOn;  ///< the questions that rank the measures
  SourceTally reportedOn;
};
/// A measure. The counts have the right answers whose needed documents rank on top, by row.
struct SourceFound {
  std::string name;
  std::string formula;
  std::vector<experiment::SourceCount> chosenOn{};
  std::vector<experiment::SourceCount> reportedOn{};
};
struct SourcesRows : BenchRows<SourcesChoice, SourcesRow> {
  /// Empty before the end. First the measure that finds the documents of the most ranking questions.
  std::vector<SourceFound> found{};
};
/// Ranks measures of attention by the number of right answers whose documents they find.
struct SourcesJob : BenchKind<SourcesRows> {
  static constexpr const char* kId = "sources";
  static void measure(SourcesRows& result, const SourcesChoice& choice, Measurement& at);
};

}  // namespace spanscope::jobs

namespace spanscope::trace {
SPANSCOPE_NAMES(experiment::SpeedTest::Kind, "prompt", "generation");
SPANSCOPE_NAMES(experiment::MissCause, "missed", "lost_combining", "answer_truncated", "not_run");
SPANSCOPE_NAMES(layout::Layout, "exact", "padded", "cropped");
}  // namespace spanscope::trace

namespace spanscope::compute {
SPANSCOPE_FIELDS(MachineRates, flops, bf16Flops, byteOperations, bytesPerSecond);
}  // namespace spanscope::compute

namespace spanscope::experiment {
SPANSCOPE_FIELDS(LoadCase, seconds, loading, bytes, tokens);
SPANSCOPE_FIELDS(LoadTimes, computed, host, disk, coldDisk, storing);
SPANSCOPE_FIELDS(SpeedTest, kind, count, depth);
SPANSCOPE_FIELDS(SpeedResult, test, tokensPerSecond, flopsPerSecond, bytesPerSecond, machine,
                 arithmeticLimit);
SPANSCOPE_FIELDS(SourceCount, one, two);
SPANSCOPE_FIELDS(NeedleMiss, trial, document, name, cause);
SPANSCOPE_FIELDS(NeedleRow, hayWords, portion, trials, good, found, invented, foundAt, misses, longestPrompt,
                 seconds, firstFailure);
template <class V, trace::Is<NeedleOptions> X>
void fields(V&& v, X& x) {
  v("documents", x.documents);
  v("hayWords", x.hayWords);
  v("portions", x.portions);
  v("trials", x.trials);
  v("goodShare", x.goodShare);
  v("seed", x.seed);
  v("layout", x.layout);
  std::string policy = x.policy.name();
  v("policy", policy);
  if constexpr (!std::is_const_v<X>) x.policy = workbench::policyOf(policy);
}
}  // namespace spanscope::experiment

namespace spanscope::jobs {
SPANSCOPE_FIELDS(LoadTimesChoice, tokens, repeats, seed, folder);
SPANSCOPE_FIELDS(LoadTimesRows, choice, total, rows, doing);
SPANSCOPE_FIELDS(SpeedChoice, tests, repeats);
SPANSCOPE_FIELDS(SpeedRows, choice, total, rows, doing);
SPANSCOPE_FIELDS(NeedleRows, choice, total, rows, doing);
SPANSCOPE_FIELDS(SourcesChoice, documents, rivals, questions, seed, reportSeed);
SPANSCOPE_FIELDS(SourceTally, asked, right);
SPANSCOPE_FIELDS(SourcesRow, documents, chosenOn, reportedOn);
SPANSCOPE_FIELDS(SourceFound, name, formula, chosenOn, reportedOn);
SPANSCOPE_FIELDS(SourcesRows, choice, total, rows, doing, found);
}  // namespace spanscope::jobs
