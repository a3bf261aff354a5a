// SPDX-License-Identifier: GPL-3.0-or-later
// A benchmark of a document: what is measured, on what, and what came of it so far.
#pragma once

#include "engine/experiment/abba.h"
#include "engine/experiment/repeat_run.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/service/job.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::workbench {

enum class BenchmarkKind {
  Query,    ///< the document's query (experiment/repeat_run.h)
  Lengths,  ///< made-up documents from short to long, on the document's model (experiment/abba.h)
};

/// What of a document its figures depend on. What only the window or the trace is told is left out.
struct BenchmarkSubject {
  std::optional<query::Node> query;  ///< as it is run; none: it cannot be, or made-up documents are measured
  std::map<std::string, std::string> parameters{};
  std::vector<query::ParameterDeclaration> declarations{};
  RunSettings settings{};
  bool operator==(const BenchmarkSubject&) const = default;
};
BenchmarkSubject benchmarkSubject(const document::Document& document, BenchmarkKind kind);

/// Made-up documents of one length.
struct MeasuredLength {
  std::int32_t documentTokens = 0;
  std::optional<experiment::AbbaRow> row;  ///< none: not yet
};

struct Benchmark {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 0;  ///< that were asked for
  BenchmarkSubject subject;  ///< what is measured
  JobState state = JobState::Waiting;
  std::string problem{};  ///< why it failed; what was measured by then stands

  std::string model{};                      ///< name of the checkpoint; empty: it is still being loaded
  std::string device{};                     ///< with its threads
  std::int32_t blockCount = 0;              ///< of the pool that it has to itself, the null block included
  std::vector<experiment::CaseGap> gaps{};  ///< by RunCase

  std::int32_t turn = 0;                                    ///< of the query that goes on; 0: warming up
  experiment::RunCase runCase = experiment::RunCase::Cold;  ///< that goes on
  std::vector<experiment::RepeatTurn> turns{};              ///< that ended
  std::vector<MeasuredLength> lengths{};                    ///< ascending; all that are to be measured

  std::optional<double> secondsLeft{};  ///< of the whole; nothing: not known yet

  std::size_t measuredLengths() const;
  /// How much is done, 0 … 1.
  double progress() const;
};

/// Lengths of documents from 64 tokens, each twice the one before, that fit into a context of so many tokens.
std::vector<std::int32_t> measurableLengths(std::int64_t contextLength);

}  // namespace spanscope::workbench
