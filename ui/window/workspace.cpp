// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/workspace.h"

#include "engine/base/error.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/pace_book.h"
#include "engine/workbench/run_options.h"
#include "ui/window/kept_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

constexpr int kFrame = 16;   // milliseconds: 60 times a second
constexpr int kPause = 150;  // milliseconds after which a person who types has paused

}  // namespace

Workspace::Workspace(compute::Backends backends, QObject* parent)
    : QObject(parent),
      m_modelSearch(backends),
      m_engine(std::move(backends)),
      m_paces(std::make_shared<workbench::PaceBook>()),
      m_keptBytes(keptBytesOf({})) {
  m_input.document = std::make_shared<const document::Document>();
  m_input.trace = m_live->trace();
  m_frame.setInterval(kFrame);
  m_frame.setSingleShot(true);
  m_frame.setTimerType(Qt::PreciseTimer);
  connect(&m_frame, &QTimer::timeout, this, &Workspace::update);
  m_typing.setSingleShot(true);
  m_typing.setInterval(kPause);
  connect(&m_typing, &QTimer::timeout, this, [this] {
    const std::shared_ptr<const SegmentIdentities> before = m_input.identities;
    readIdentitiesAnew();
    if (m_input.identities != before) Q_EMIT inputChanged();
  });
  connect(&m_engine, &EngineHost::stateChanged, this, &Workspace::invalidate);
  connect(&m_engine, &EngineHost::modelChanged, this, [this] {
    m_input.estimate.reset();
    m_paceIsOld = true;
    invalidate();
  });
  connect(&m_engine, &EngineHost::devicesFound, this, &Workspace::invalidate);
  connect(&m_forecasts, &Forecasts::changed, this, &Workspace::invalidate);
  connect(&m_serving, &Serving::changed, this, &Workspace::invalidate);
  // Runs of clients end without a job whose end would take their last events.
  connect(&m_engine, &EngineHost::sessionEnds, this, &Workspace::drain);
  connect(&m_engine, &EngineHost::sessionStarted, this, &Workspace::endSession);
  connect(&m_engine, &EngineHost::tokenizerRead, this,
          [this](const std::string& directory, const std::shared_ptr<const text::Tokenizer>& tokenizer) {
            m_tokenizers[directory] = tokenizer;
            invalidate();
          });
  connect(&m_engine, &EngineHost::preparingFailed, this,
          [this](const QString& problem) { Q_EMIT workEnded(problem, EngineJob::kProgram); });
  connect(&m_engine, &EngineHost::workEnded, this, &Workspace::workEnded);
}

Workspace::~Workspace() {
  m_engine.disconnect(this);
  m_serving.disconnect(this);
}

OpenDocument* Workspace::find(std::uint32_t tab) const {
  const auto found = std::find_if(m_documents.begin(), m_documents.end(),
                                  [tab](const auto& document) { return document->id == tab; });
  return found == m_documents.end() ? nullptr : found->get();
}

void Workspace::setCurrent(OpenDocument* document) {
  if (document == m_current) return;
  m_current = document;
  Q_EMIT currentChanged();
  update();
}

OpenDocument& Workspace::open(std::unique_ptr<DocumentModel> model) {
  auto document = std::make_unique<OpenDocument>();
  document->id = m_nextId++;
  document->model = std::move(model);
  document->source = m_live;
  connect(document->model.get(), &DocumentModel::changed, this, &Workspace::invalidate);
  connect(document->model.get(), &DocumentModel::stateChanged, this, &Workspace::documentsChanged);
  OpenDocument& result = *document;
  bindHistory(result);
  m_documents.push_back(std::move(document));
  Q_EMIT documentsChanged();
  setCurrent(&result);
  return result;
}

void Workspace::close(OpenDocument* document) {
  const auto found = std::find_if(m_documents.begin(), m_documents.end(),
                                  [document](const auto& open) { return open.get() == document; });
  if (found == m_documents.end()) return;
  const auto index = static_cast<std::size_t>(found - m_documents.begin());
  const std::unique_ptr<OpenDocument> gone = std::move(*found);
  m_documents.erase(found);
  m_forecasts.forget(gone->id);
  // Nobody could stop it any more.
  m_engine.stop(gone->id);
  m_engine.stopMeasuring(gone->id);
  if (m_current == document) {
    setCurrent(m_documents.empty() ? nullptr : m_documents[std::min(index, m_documents.size() - 1)].get());
  }
  Q_EMIT documentsChanged();
}

void Workspace::select(const Selection& selection) {
  if (m_current == nullptr || m_current->selection == selection) return;
  // A request of another session, or of a run behind the position, is shown where it is.
  if (selection.request && !m_input.state().progress().requests.contains(*selection.request)) {
    if (const RunRecord* record = m_history.findByRequest(*selection.request)) showRun(record->run);
  }
  m_current->selection = selection;
  m_current->selected.note(selection);
  update();
}

bool Workspace::goThroughSelections(int steps) {
  if (m_current == nullptr) return false;
  const document::Document& document = m_current->model->document();
  const std::optional<Selection> wanted = steps < 0
                                              ? m_current->selected.goBack(m_current->selection, document)
                                              : m_current->selected.goForward(document);
  if (wanted) select(*wanted);
  return wanted.has_value();
}

bool Workspace::canGoThroughSelections(int steps) const {
  if (m_current == nullptr) return false;
  const document::Document& document = m_current->model->document();
  return steps < 0 ? m_current->selected.canGoBack(m_current->selection, document)
                   : m_current->selected.canGoForward(document);
}

void Workspace::setTheme(const Theme& theme) {
  m_input.theme = theme;
  update();
}

void Workspace::setKeys(KeyTexts keys) {
  m_input.keys = std::make_shared<const KeyTexts>(std::move(keys));
  update();
}

void Workspace::setPosition(std::size_t position) {
  if (m_current == nullptr) return;
  m_current->position = std::min(position, m_input.trace->size());
  m_current->following = m_current->position == m_input.trace->size();
  m_current->chosen = 0;
  update();
}

void Workspace::useModelInUse(document::RunSettings& settings) const {
  const bool isOfCurrent = m_current != nullptr && m_current->source->takesRuns();
  const document::RunSettings& used = isOfCurrent ? m_current->model->document().settings : m_lastSettings;
  settings.model = used.model;
  settings.adapter = used.adapter;
  settings.chatTemplate = used.chatTemplate;
  settings.context = used.context;
  settings.policy = workbench::usualPolicyOf(settings);
}

std::string Workspace::runsOn(const OpenDocument& document) {
  try {
    return workbench::modelDirectoryOf(document.model->document().settings).string();
  } catch (const Failure&) {
    return {};
  }
}

void Workspace::setRecentModels(std::vector<std::string> directories) {
  m_input.models.recent = std::move(directories);
  invalidate();
}

void Workspace::searchModels() {
  m_modelSearch.search(m_input.models.recent, m_current == nullptr ? document::RunSettings()
                                                                   : m_current->model->document().settings);
}

}  // namespace spanscope::ui
