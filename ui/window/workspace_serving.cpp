// SPDX-License-Identifier: GPL-3.0-or-later
// The part of Workspace that shows what clients ask of the window's engine: their runs are runs of its
// session, and a request is shown as a document of its own.
#include "engine/query/json/json.h"
#include "engine/workbench/model_names.h"
#include "ui/session/example_texts.h"
#include "ui/window/kept_trace.h"
#include "ui/window/workspace.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

QString servedTitle(std::uint64_t number) {
  return Workspace::tr("Request %1").arg(number);
}

}  // namespace

void Workspace::serve(const ServeSettings& settings) {
  workbench::RunSettings run;
  if (m_current != nullptr && m_current->source->takesRuns())
    run = m_current->model->document().settings;
  else
    useModelInUse(run);
  m_keptBytes = std::max(m_keptBytes, keptBytesOf(run));
  m_serving.start(run, settings);
  invalidate();
}

document::Document Workspace::documentOf(const ServedEntry& entry, document::NodePaths& paths) const {
  document::Document document;
  const query::ParseResult parsed = query::parseJson(entry.queryJson);
  if (parsed.query) {
    document = document::fromQuery(*parsed.query);
    paths = document::toQuery(document, document::TakeOut::MutedAndFrozen).paths;
  } else {
    constexpr document::Rect kPlace{0, 0, 320, 120};
    document.notes.push_back(
        {.id = 1,
         .text = tr("The texts of this request are not kept. How many tokens it had, which blocks were "
                    "found, and how long it took stand in the other docks.")
                     .toStdString(),
         .area = kPlace});
  }
  document.settings = m_serving.runSettings();
  return document;
}

/// Where a run of a client begins, the history has it, and a document that shows it already goes along.
void Workspace::takeServedStart(const trace::Event& event) {
  const std::optional<ServedEntry> entry = m_serving.entryOfRun(event.run);
  if (!entry) return;
  const auto& started = std::get<trace::RunStarted>(event.payload);
  RunRecord record{.run = event.run,
                   .document = servedTitle(entry->number),
                   .model = QString::fromStdString(workbench::modelNameOf(m_serving.runSettings())),
                   .settings = m_serving.runSettings(),
                   .startedAt = entry->time,
                   .trace = m_live->trace()};
  record.settings.seed = started.seed;
  documentOf(*entry, record.paths);
  m_servedRuns[event.run] = entry->number;
  for (const auto& document : m_documents) {
    if (document->served != entry->number) continue;
    record.tab = document->id;
    document->paths[event.run] = record.paths;
    if (document->source != m_live) showLive(*document);
  }
  if (const QString& madeFor = m_engine.model().madeFor;
      !madeFor.isEmpty() && !started.queryJson.empty() && !hasExampleText(started.queryJson))
    record.madeFor = madeFor;
  m_live->noteRun(record.settings);
  m_history.begin(std::move(record), started.queryJson);
}

OpenDocument* Workspace::showServed(std::uint64_t number) {
  const std::optional<ServedEntry> entry = m_serving.entry(number);
  if (!entry) return nullptr;
  for (const auto& document : m_documents) {
    if (document->served != number) continue;
    setCurrent(document.get());
    return document.get();
  }
  // Events of a run that has begun may wait.
  drain();
  document::NodePaths paths;
  document::Document document = documentOf(*entry, paths);
  const RunRecord* record = entry->run == 0 ? nullptr : m_history.find(entry->run);
  if (record != nullptr) document.settings = record->settings;
  auto model = std::make_unique<DocumentModel>(std::move(document));
  model->setTitle(servedTitle(number));
  OpenDocument& opened = open(std::move(model));
  opened.served = number;
  opened.isPreview = true;
  if (record == nullptr) return &opened;
  opened.paths[entry->run] = std::move(paths);
  if (entry->isOver() || record->trace != m_live->trace()) showRun(entry->run);
  update();
  return &opened;
}

bool Workspace::isUsed(const OpenDocument& preview) const {
  if (preview.model->isModified() || m_engine.isBusy(preview.id) || m_engine.isMeasuring(preview.id))
    return true;
  return std::any_of(preview.paths.begin(), preview.paths.end(), [&](const auto& run) {
    const auto served = m_servedRuns.find(run.first);
    return served == m_servedRuns.end() || served->second != preview.served;
  });
}

}  // namespace spanscope::ui
