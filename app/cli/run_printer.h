// SPDX-License-Identifier: GPL-3.0-or-later
// What a person sees of a run in a terminal, drawn from its events: the text of every step as it comes, then
// a table.
#pragma once

#include "app/cli/cli.h"
#include "engine/plan/plan.h"
#include "engine/run/run_result.h"
#include "engine/trace/event.h"
#include "engine/trace/layout_figures.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spanscope::cli {

/// Independent segments of a run by what the cache gave for them.
struct SpanCounts {
  std::int64_t relocated = 0;  ///< wholly found, at another base position
  std::int64_t plain = 0;      ///< wholly found, where they stood before
  std::int64_t partial = 0;    ///< found in part
  std::int64_t computed = 0;   ///< not found at all
  bool operator==(const SpanCounts&) const = default;
};

/// What a run loaded from one tier of the span store.
struct TierCounts {
  std::int64_t tokens = 0;
  std::uint64_t bytes = 0;
  std::int64_t nanoseconds = 0;
};
/// By trace::StoreTier.
using LoadCounts = std::map<trace::StoreTier, TierCounts>;

/// Streams one run. Steps run at the same time, but a terminal has one cursor: the first step that has not
/// ended is shown live, the others wait for their turn, so every text stands in one piece, in the order of
/// the plan.
class RunPrinter {
 public:
  /// `quiet`: only messages and progress, nothing on standard output. `name`: of the query's file, with which
  /// messages begin.
  RunPrinter(const Streams& streams, const plan::Plan& plan, bool quiet, std::string name);

  void take(const trace::Event& event);
  /// Ends the text. Call it when all events were taken, before the tables.
  void finish();

  const SpanCounts& spans() const { return m_spans; }
  const LoadCounts& loads() const { return m_loads; }
  /// What a layout that is not exact did to all prompts.
  const trace::LayoutFigures& layoutFigures() const { return m_layout; }

 private:
  struct Reply {
    std::string waiting;     ///< text whose turn has not come
    std::size_t length = 0;  ///< bytes taken so far, shown or waiting
    bool started = false;    ///< its heading was shown
    bool ended = false;
  };
  struct Segment {
    bool independent = false;
    std::int64_t found = 0;
    std::int64_t wanted = 0;
    bool relocated = false;
  };

  void takeText(RequestId request, const std::string& text);
  void showTurn();
  void showProgress();
  void wipeProgress();
  void countSpans(RequestId request);

  const Streams& m_streams;
  std::string m_name;
  const plan::Plan& m_plan;
  bool m_quiet;
  std::vector<Reply> m_replies;  ///< by step
  std::map<RequestId, StepIndex> m_steps;
  std::map<RequestId, std::vector<Segment>> m_segments;
  std::set<RequestId> m_preempted;
  StepIndex m_turn = 0;
  bool m_midLine = false;
  SpanCounts m_spans;
  LoadCounts m_loads;
  SharedList<trace::SegmentInfo> m_table;  ///< the last one that was laid out
  std::int32_t m_layoutBlock = 1;          ///< tokens
  trace::LayoutFigures m_layout;
  std::int64_t m_toCompute = 0;
  std::int64_t m_computed = 0;
  std::int64_t m_generated = 0;
  bool m_progressShown = false;
};

/// "/g/input/plus/0, copy 1"; the root of the query is "the root".
std::string stepName(const plan::Step& step);

/// One row a step: prompt, cached, relocated, computed and generated tokens, time to first token, latency.
std::string stepTable(const plan::Plan& plan, const run::RunResult& result);

/// One line that says what reuse did: spans and tokens.
std::string reuseSummary(const run::RunResult& result, const SpanCounts& spans);
/// One line that says which of the hits came from a tier; empty: none.
std::string loadSummary(const LoadCounts& loads);

}  // namespace spanscope::cli
