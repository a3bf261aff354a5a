// SPDX-License-Identifier: GPL-3.0-or-later
// A benchmark of a document: what is measured, on which model and device, and the results so far.
#pragma once

#include "engine/experiment/abba.h"
#include "engine/experiment/repeat_run.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document.h"

#include <QString>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

enum class BenchmarkKind {
  Query,    ///< the document's query (experiment/repeat_run.h)
  Lengths,  ///< made-up documents from short to long, on the document's model (experiment/abba.h)
};

inline constexpr std::int32_t kMostRepeats = 100;

/// The parts of a document on which the figures of a benchmark depend. Settings that only concern the window
/// or the trace are left out.
struct BenchmarkSubject {
  /// As it is run; none: the query cannot be run, or made-up documents are measured.
  std::optional<query::Node> query;
  std::map<std::string, std::string> parameters{};
  std::vector<query::ParameterDeclaration> declarations{};
  document::RunSettings settings{};
  bool operator==(const BenchmarkSubject&) const = default;
};
BenchmarkSubject benchmarkSubject(const document::Document& document, BenchmarkKind kind);

enum class BenchmarkState {
  Running,
  Finished,
  Stopped,  ///< by a person; the results up to then are kept
  Failed,   ///< see `problem`; the results up to then are kept
};

/// What was measured on made-up documents of one length.
struct MeasuredLength {
  std::int32_t documentTokens = 0;
  std::optional<experiment::AbbaRow> row;  ///< none: not measured yet
};

struct Benchmark {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 0;  ///< number of repeats asked for
  BenchmarkSubject subject;  ///< what was measured
  BenchmarkState state = BenchmarkState::Running;
  QString problem{};

  QString model{};              ///< name of the checkpoint; empty: the model is still being loaded
  QString device{};             ///< name of the device, with its number of threads
  std::int32_t blockCount = 0;  ///< blocks of the benchmark's own pool, the null block included
  std::vector<experiment::CaseGap> gaps{};  ///< by RunCase

  std::int32_t turn = 0;  ///< the current turn of a query benchmark; 0: warming up
  experiment::RunCase runCase = experiment::RunCase::Cold;  ///< the case that is running now
  std::vector<experiment::RepeatTurn> turns{};              ///< the turns that have ended
  std::vector<MeasuredLength> lengths{};                    ///< every length to measure, ascending

  std::size_t measuredLengths() const;
  /// How much is done, 0 … 1.
  double progress() const;
};

/// What a person asks for. Its text is the argument of the command "run.benchmark": "query:7", "lengths:3".
struct BenchmarkWish {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 7;  ///< 1 … kMostRepeats
  bool operator==(const BenchmarkWish&) const = default;
};
QString benchmarkWish(const BenchmarkWish& wish);
/// Returns nothing if the text is no such argument.
std::optional<BenchmarkWish> readBenchmarkWish(const QString& text);

/// What the benchmark is doing now, in words: "Benchmark: turn 2 of 7, order swapped".
QString progressText(const Benchmark& benchmark);
/// "cold", "same order", "order swapped", "floor".
QString caseText(experiment::RunCase runCase);

}  // namespace spanscope::ui
