// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/add/add_view.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/benchmark/benchmark_view.h"
#include "ui/views/block_table/block_table_view.h"
#include "ui/views/compare/compare_view.h"
#include "ui/views/experiments/experiments_view.h"
#include "ui/views/forecast/forecast_view.h"
#include "ui/views/fragments/fragments_view.h"
#include "ui/views/inspector/inspector_view.h"
#include "ui/views/json/json_view.h"
#include "ui/views/log/log_view.h"
#include "ui/views/mask/mask_view.h"
#include "ui/views/metrics/metrics_view.h"
#include "ui/views/next_token/next_token_view.h"
#include "ui/views/output/output_view.h"
#include "ui/views/plan/plan_view.h"
#include "ui/views/policies/policies_view.h"
#include "ui/views/pool/pool_view.h"
#include "ui/views/problems/problems_view.h"
#include "ui/views/scrubber/scrubber.h"
#include "ui/views/settings/settings_view.h"
#include "ui/views/timeline/timeline_view.h"
#include "ui/views/tokens/token_strip_view.h"
#include "ui/views/turn/turn_view.h"
#include "ui/views/view.h"
#include "ui/views/why/why_view.h"
#include "ui/words/tr.h"

#include <utility>

namespace spanscope::ui {
namespace {

template <class T>
ViewInfo view(const char* id, const QString& title, const QString& help, std::vector<Fact> needs = {}) {
  return {.id = QString::fromLatin1(id),
          .title = title,
          .help = help,
          .make = [](QWidget* parent) -> View* { return new T(parent); },
          .needs = std::move(needs)};
}

}  // namespace

const std::vector<ViewInfo>& viewTable() {
  static const std::vector<ViewInfo> table = {
      view<AddView>("add", tr("Add"), tr("Operators to drag to the canvas, and example queries")),
      view<InspectorView>("inspector", tr("Inspector"), tr("The text and the settings of the selected node")),
      view<JsonView>("json", tr("JSON"), tr("The query as text, in step with the canvas")),
      view<ProblemsView>("problems", tr("Problems"),
                         tr("What keeps the query from running, and what is probably not meant")),
      view<SettingsView>("settings", tr("Settings"), tr("Model, cache and recording, for the next run")),
      view<TokenStripView>("tokens", tr("Tokens"),
                           tr("The prompt and the answer token by token, and the blocks they fill"),
                           {Fact::Prompts, Fact::TokenTexts}),
      view<BlockTableView>("block-table", tr("Block table"),
                           tr("Which block of the pool serves each block of each prompt"),
                           {Fact::Prompts, Fact::BlockLookups}),
      view<WhyView>("why", tr("Why"),
                    tr("Why the selected block was found or not, and what would change that"),
                    {Fact::BlockLookups}),
      view<PoolView>("pool", tr("Pool"), tr("Every block of the KV pool: what it holds and who holds it"),
                     {Fact::Pool}),
      view<AttentionView>("attention", tr("Attention"),
                          tr("Where each block of the prompt looked, and what the tree lets it see"),
                          {Fact::Attention}),
      view<MaskView>("mask", tr("Mask"),
                     tr("Which token of the prompt sees which, and which rows were computed"),
                     {Fact::Prompts, Fact::TokenTexts}),
      view<TurnView>("turn", tr("Turn"),
                     tr("How a query is turned to a key that was stored at another position"),
                     {Fact::Prompts, Fact::TokenTexts}),
      view<NextTokenView>("next-token", tr("Next token"),
                          tr("What else might have stood in an answer, under two policies side by side"),
                          {Fact::Prompts, Fact::TokenTexts}),
      view<FragmentsView>(
          "fragments", tr("Fragments"),
          tr("What the selected augment found, how well it fits, and what of it is in the prompt")),
      view<OutputView>("output", tr("Output"), tr("The answers of every step and run, as they come")),
      view<ForecastView>("forecast", tr("Forecast"),
                         tr("What the next run would find in the cache, before it runs")),
      view<PlanView>("plan", tr("Plan"), tr("The steps a query became, what each needs, and why")),
      view<TimelineView>("timeline", tr("Timeline"),
                         tr("When each step waited, loaded blocks, computed its prompt and decoded"),
                         {Fact::StepTimes, Fact::TokenTimes, Fact::Passes}),
      view<MetricsView>("metrics", tr("Metrics"), tr("Latency, reuse, blocks and speed, run by run"),
                        {Fact::CachedTokens, Fact::TokenTimes, Fact::Passes, Fact::BlockLookups, Fact::Pool}),
      view<BenchmarkView>("benchmark", tr("Benchmark"),
                          tr("The query run again and again: cold, in the same order and swapped")),
      view<PoliciesView>("policies", tr("Policies"),
                         tr("The query under several reuse policies: answers, times and fidelity")),
      view<ExperimentsView>("experiments", tr("Experiments"),
                            tr("Sweeps that draw themselves: time, fidelity and accuracy, by policy")),
      view<CompareView>("compare", tr("Compare"), tr("Two runs side by side"),
                        {Fact::CachedTokens, Fact::TokenTimes}),
      view<LogView>("log", tr("Log"), tr("Messages, runs and steps, or every event of the trace")),
      view<Scrubber>("scrubber", tr("Time"), tr("Goes back and forth in what happened")),
  };
  return table;
}

}  // namespace spanscope::ui
