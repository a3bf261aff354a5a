// SPDX-License-Identifier: GPL-3.0-or-later
// A benchmark of a document: what is measured, on what, and what came of it so far.
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

/// What of a document its figures depend on. What only the window or the trace is told is left out.
struct BenchmarkSubject {
  std::optional<query::Node> query;  ///< as it is run; none: it cannot be, or made-up documents are measured
  std::map<std::string, std::string> parameters{};
  std::vector<query::ParameterDeclaration> declarations{};
  document::RunSettings settings{};
  bool operator==(const BenchmarkSubject&) const = default;
};
BenchmarkSubject benchmarkSubject(const document::Document& document, BenchmarkKind kind);

enum class BenchmarkState {
  Running,
  Finished,
  Stopped,  ///< by a person; what ended before stands
  Failed,   ///< see `problem`; what ended before stands
};

/// Made-up documents of one length.
struct MeasuredLength {
  std::int32_t documentTokens = 0;
  std::optional<experiment::AbbaRow> row;  ///< none: not yet
};

struct Benchmark {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 0;  ///< that were asked for
  BenchmarkSubject subject;  ///< what was measured
  BenchmarkState state = BenchmarkState::Running;
  QString problem{};

  QString model{};                          ///< name of the checkpoint; empty: it is still being loaded
  QString device{};                         ///< with its threads
  std::int32_t blockCount = 0;              ///< of the pool that it has to itself, the null block included
  std::vector<experiment::CaseGap> gaps{};  ///< by RunCase

  std::int32_t turn = 0;                                    ///< of the query that goes on; 0: warming up
  experiment::RunCase runCase = experiment::RunCase::Cold;  ///< that goes on
  std::vector<experiment::RepeatTurn> turns{};              ///< that ended
  std::vector<MeasuredLength> lengths{};                    ///< ascending; all that are to be measured

  std::size_t measuredLengths() const;
  /// How much is done, 0 … 1.
  double progress() const;
};

/// What a person asks for, as the argument of the command "run.benchmark": "query:7", "lengths:3".
struct BenchmarkWish {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 7;  ///< 1 … kMostRepeats
  bool operator==(const BenchmarkWish&) const = default;
};
QString benchmarkWish(const BenchmarkWish& wish);
/// Nothing where it is none.
std::optional<BenchmarkWish> readBenchmarkWish(const QString& text);

/// What is being done, in words: "Benchmark: turn 2 of 7, order swapped".
QString progressText(const Benchmark& benchmark);
/// "cold", "same order", "order swapped", "floor".
QString caseText(experiment::RunCase runCase);

}  // namespace spanscope::ui
