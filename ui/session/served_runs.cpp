// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/served_runs.h"

#include "engine/query/json/json.h"
#include "engine/workbench/model_names.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::ui {

ServedRuns::ServedRuns(EngineHost& engine, const OpenDocuments& documents, RunTraces& traces)
    : m_documents(documents), m_traces(traces), m_serving(engine) {
  connect(&m_traces, &RunTraces::otherStarted, this, &ServedRuns::takeServedStart);
}

QString ServedRuns::titleOf(std::uint64_t request) {
  return tr("Request %1").arg(request);
}

document::Document ServedRuns::documentOf(const ServedEntry& entry, document::NodePaths& paths) const {
  document::Document document;
  const query::ParseResult parsed = query::parseJson(entry.queryJson);
  if (parsed.query) {
    document = document::fromQuery(*parsed.query);
    paths = document::toQuery(document, document::TakeOut::MutedAndFrozen).paths;
  } else {
    constexpr document::Rect kPlace{0, 0, 320, 120};
    document.notes.push_back(
        {.id = 1,
         .text =
             tr("The texts of this request are not kept. The other docks show its tokens, blocks and times.")
                 .toStdString(),
         .area = kPlace});
  }
  document.settings = m_serving.runSettings();
  return document;
}

/// Adds a client's run to the history when the run begins. A document of the same request then shows the run.
void ServedRuns::takeServedStart(const trace::Event& event) {
  const std::optional<ServedEntry> entry = m_serving.entryOfRun(event.run);
  if (!entry) return;
  const auto& started = std::get<trace::RunStarted>(event.payload);
  RunRecord record{.run = event.run,
                   .document = titleOf(entry->number),
                   .model = QString::fromStdString(workbench::modelNameOf(m_serving.runSettings())),
                   .settings = m_serving.runSettings(),
                   .startedAt = entry->time,
                   .trace = m_traces.live()->trace()};
  record.settings.seed = started.seed;
  documentOf(*entry, record.paths);
  m_servedRuns[event.run] = entry->number;
  for (const auto& document : m_documents) {
    if (document->served != entry->number) continue;
    record.tab = document->id;
    document->paths[event.run] = record.paths;
    if (document->source != m_traces.live()) m_traces.showLive(*document);
  }
  m_traces.begin(event, std::move(record), true);
}

bool ServedRuns::hasOnlyRunsOfItsRequest(const OpenDocument& document) const {
  return std::all_of(document.paths.begin(), document.paths.end(), [&](const auto& run) {
    const auto served = m_servedRuns.find(run.first);
    return served != m_servedRuns.end() && served->second == document.served;
  });
}

}  // namespace spanscope::ui
