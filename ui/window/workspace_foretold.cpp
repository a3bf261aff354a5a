// SPDX-License-Identifier: GPL-3.0-or-later
// The part of Workspace that holds what twins have told: runs that were never run.
#include "engine/checkpoint/checkpoint.h"
#include "engine/twin/telling/cache_teller.h"
#include "engine/workbench/servers/twin_forecast.h"
#include "ui/session/foretold_runs.h"
#include "ui/window/workspace.h"

#include <QDateTime>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope::ui {

RunId Workspace::addForetold(const workbench::ToldForecast& told) {
  if (m_current == nullptr || !m_current->source->takesRuns() || told.events.empty()) return 0;
  RunNumbers last = lastNumbers();
  // Runs of the engine that have not begun yet take the next ones.
  last.run += static_cast<RunId>(m_pending.size());
  std::vector<trace::Event> events = told.events;
  twin::countFrom(events, last.run, last.request);
  auto store = std::make_shared<TraceStore>();
  for (trace::Event& event : events) store->append(std::move(event));
  const trace::Progress& progress = store->newest().progress();
  if (progress.runs.empty()) return 0;
  const RunId run = std::prev(progress.runs.end())->first;
  m_given = {.run = run, .request = last.request + static_cast<RequestId>(progress.requests.size())};
  // What was run before has its nodes where it was run in this document.
  for (std::size_t i = 0; i < told.before.size(); ++i) {
    const auto paths = m_current->paths.find(told.before[i]);
    if (paths != m_current->paths.end())
      m_current->paths[last.run + 1 + static_cast<RunId>(i)] = document::NodePaths(paths->second);
  }
  const document::QueryOf now =
      document::toQuery(m_current->model->document(), document::TakeOut::MutedAndFrozen);
  RunRecord record{.run = run,
                   .tab = 0,
                   .document = m_current->model->title(),
                   .path = {},
                   .model = QString::fromStdString(checkpoint::Checkpoint(progress.model).name()),
                   .settings = m_current->model->document().settings,
                   .hasSettings = false,
                   .startedAt = QDateTime::currentMSecsSinceEpoch(),
                   .paths = now.paths,
                   .trace = store};
  record.settings.policy = progress.runs.at(run).policy;
  m_current->paths[run] = now.paths;
  const std::string queryJson = *progress.runs.at(run).queryJson;
  m_history.begin(std::move(record), queryJson);
  m_history.end(run);
  showRun(run);
  return run;
}

bool Workspace::isForetold(RunId run) const {
  const RunRecord* const record = m_history.find(run);
  return record != nullptr && ui::isForetold(*record);
}

bool Workspace::removeForetold(RunId run) {
  if (!isForetold(run)) return false;
  const std::shared_ptr<const TraceStore> trace = m_history.find(run)->trace;
  m_history.remove(run);
  for (const auto& document : m_documents) {
    if (trace != nullptr && document->source->trace() == trace) showLive(*document);
    document->paths.erase(run);
    if (trace == nullptr) continue;
    for (const auto& [told, state] : trace->newest().progress().runs) document->paths.erase(told);
  }
  update();
  return true;
}

}  // namespace spanscope::ui
