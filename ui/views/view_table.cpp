// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/cache/block_table_view.h"
#include "ui/views/cache/pool_view.h"
#include "ui/views/cache/token_strip_view.h"
#include "ui/views/cache/why_view.h"
#include "ui/views/document/add_view.h"
#include "ui/views/document/inspector_view.h"
#include "ui/views/document/json_view.h"
#include "ui/views/document/problems_view.h"
#include "ui/views/document/settings_view.h"
#include "ui/views/run/attention_view.h"
#include "ui/views/run/compare_view.h"
#include "ui/views/run/log_view.h"
#include "ui/views/run/metrics_view.h"
#include "ui/views/run/output_view.h"
#include "ui/views/run/plan_view.h"
#include "ui/views/run/scrubber.h"
#include "ui/views/run/timeline_view.h"
#include "ui/views/view.h"

#include <QCoreApplication>

namespace spanscope::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("views", text);
}

template <class T>
ViewInfo view(const char* id, const char* title, const char* help) {
  return {.id = QString::fromLatin1(id),
          .title = tr(title),
          .help = tr(help),
          .make = [](QWidget* parent) -> View* { return new T(parent); }};
}

}  // namespace

const std::vector<ViewInfo>& viewTable() {
  static const std::vector<ViewInfo> table = {
      view<AddView>("add", "Add", "Operators to drag to the canvas, and example queries"),
      view<InspectorView>("inspector", "Inspector", "The text and the settings of the selected node"),
      view<JsonView>("json", "JSON", "The query as text, in step with the canvas"),
      view<ProblemsView>("problems", "Problems",
                         "What keeps the query from running, and what is probably not meant"),
      view<SettingsView>("settings", "Settings", "Model, cache and recording, for the next run"),
      view<TokenStripView>("tokens", "Tokens",
                           "The prompt and the answer token by token, and the blocks they fill"),
      view<BlockTableView>("block-table", "Block table",
                           "Which block of the pool serves each block of each prompt"),
      view<WhyView>("why", "Why", "Why the selected block was found or not, and what would change that"),
      view<PoolView>("pool", "Pool", "Every block of the KV pool: what it holds and who holds it"),
      view<AttentionView>("attention", "Attention",
                          "Where each block of the prompt looked, and what the tree lets it see"),
      view<OutputView>("output", "Output", "The answers of every step and run, as they come"),
      view<PlanView>("plan", "Plan", "The steps a query became, what each needs, and why"),
      view<TimelineView>("timeline", "Timeline", "When each step waited, computed its prompt and decoded"),
      view<MetricsView>("metrics", "Metrics", "Latency, reuse, blocks and speed, run by run"),
      view<CompareView>("compare", "Compare", "Two runs side by side"),
      view<LogView>("log", "Log", "Messages, runs and steps, or every event of the trace"),
      view<Scrubber>("scrubber", "Time", "Goes back and forth in what happened"),
  };
  return table;
}

}  // namespace spanscope::ui
