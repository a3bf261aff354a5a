// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/predictions.h"

#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"
#include "ui/session/document_predictor.h"
#include "ui/session/run_inputs.h"

#include <memory>
#include <stop_token>
#include <utility>

namespace spanscope::ui {

/// Predicts the cache hits of a run.
class PredictionJob final : public workbench::Job {
 public:
  /// `predictor`: not null.
  PredictionJob(std::shared_ptr<DocumentPredictor> predictor, PredictionRequest request);

  workbench::Begun begin(workbench::JobContext& place, const std::stop_token& stop) override;

  /// The prediction after the end of the job; null if the job was stopped.
  const std::shared_ptr<const DocumentPrediction>& prediction() const { return m_prediction; }

 private:
  std::shared_ptr<DocumentPredictor> m_predictor;
  PredictionRequest m_request;
  std::shared_ptr<const DocumentPrediction> m_prediction;
};

PredictionJob::PredictionJob(std::shared_ptr<DocumentPredictor> predictor, PredictionRequest request)
    : m_predictor(std::move(predictor)), m_request(std::move(request)) {}

workbench::Begun PredictionJob::begin(workbench::JobContext& place, const std::stop_token& stop) {
  std::optional<DocumentPrediction> made =
      m_predictor->predict(m_request, place.openSessionFor(m_request.settings), place.model().get(), stop);
  if (made) m_prediction = std::make_shared<const DocumentPrediction>(std::move(*made));
  return workbench::Begun::Done;
}

namespace {

constexpr int kPause = 250;  // milliseconds without an edit after which the user has paused

}  // namespace

Predictions::Predictions(EngineHost& engine, QObject* parent) : QObject(parent), m_engine(engine) {
  m_pause.setSingleShot(true);
  connect(&m_pause, &QTimer::timeout, this, &Predictions::ask);
  connect(&engine, &EngineHost::jobEnded, this, &Predictions::nextEpoch);
  connect(&engine, &EngineHost::preparingFailed, this, &Predictions::nextEpoch);
  connect(&engine, &EngineHost::cacheCleared, this, &Predictions::nextEpoch);
}

void Predictions::watch(std::uint32_t tab, std::shared_ptr<const document::Document> document,
                        const QString& path) {
  if (document == nullptr) {
    m_tab = 0;
    m_watched = {};
    m_pause.stop();
    m_isPending = false;
    return;
  }
  Subject subject{
      .document = std::move(document), .path = path, .epoch = m_epoch, .comparesLayouts = m_comparesLayouts};
  if (tab == m_tab && subject == m_watched) return;
  const bool isEdited = tab == m_tab;
  m_tab = tab;
  m_watched = std::move(subject);
  schedule(isEdited ? kPause : 0);
}

void Predictions::compareLayouts(bool compares) {
  if (compares == m_comparesLayouts) return;
  m_comparesLayouts = compares;
  if (m_tab == 0) return;
  // A prediction that compares layouts has everything that is needed without the comparison.
  if (!compares) return;
  m_watched.comparesLayouts = true;
  schedule(0);
}

void Predictions::forget(std::uint32_t tab) {
  m_tabs.erase(tab);
  if (m_asked && m_asked->tab == tab) m_asked.reset();
  if (m_tab == tab) watch(0, nullptr, {});
}

PredictionState Predictions::state(std::uint32_t tab) const {
  const auto found = m_tabs.find(tab);
  if (found == m_tabs.end()) return {.isPending = m_isPending};
  return {.newest = found->second.newest, .before = found->second.before, .isPending = m_isPending};
}

void Predictions::nextEpoch() {
  ++m_epoch;
  // The engine drops a requested prediction when it gets any other job.
  m_asked.reset();
  if (m_tab == 0) return;
  m_watched.epoch = m_epoch;
  schedule(0);
}

void Predictions::schedule(int pause) {
  const auto found = m_tabs.find(m_tab);
  m_isPending = found == m_tabs.end() || found->second.subject != m_watched;
  m_pause.stop();
  if (m_isPending) m_pause.start(pause);
}

void Predictions::ask() {
  // The end of the current job starts a new epoch, which asks again.
  if (m_tab == 0 || m_engine.isBusy()) return;
  const document::Document& document = *m_watched.document;
  if (document.root() == document::kNoNode) return refuse(tr("The query is empty."));
  document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!taken.query) return refuse(tr("The query is incomplete: an input is missing."));

  Key key{.query = std::move(*taken.query),
          .paths = std::move(taken.paths),
          .parameters = document.parameters,
          .declarations = document.declarations,
          // Settings that only select what is recorded do not change the prediction.
          .settings = workbench::onlyThose(
              document.settings, {workbench::SettingEffect::Model, workbench::SettingEffect::Session,
                                  workbench::SettingEffect::Plan, workbench::SettingEffect::Retrieval,
                                  workbench::SettingEffect::Run}),
          .path = m_watched.path,
          .epoch = m_watched.epoch,
          .comparesLayouts = m_watched.comparesLayouts};
  // Descriptions of parameters do not change the prediction.
  for (query::ParameterDeclaration& declaration : key.declarations) declaration.description.clear();
  Tab& tab = m_tabs[m_tab];
  if (tab.key == key) {
    tab.subject = m_watched;
    m_isPending = false;
    Q_EMIT changed();
    return;
  }
  m_asked = Asked{.id = ++m_lastId, .tab = m_tab, .subject = m_watched, .key = key};
  const auto work = std::make_shared<PredictionJob>(
      m_predictor, PredictionRequest{.id = m_lastId,
                                     .query = std::move(key.query),
                                     .paths = std::move(key.paths),
                                     .parameters = std::move(key.parameters),
                                     .declarations = std::move(key.declarations),
                                     .settings = std::move(key.settings),
                                     .comparesLayouts = key.comparesLayouts,
                                     .surroundings = std::make_shared<RunInputs>(m_watched.path, Asker{})});
  const auto changed = [this, work](workbench::JobState state, const QString&) {
    if (workbench::hasEnded(state) && work->prediction()) take(work->prediction());
  };
  m_engine.submit({.work = work, .changed = changed, .givesWay = true});
}

void Predictions::refuse(const QString& problem) {
  auto prediction = std::make_shared<DocumentPrediction>();
  prediction->id = ++m_lastId;
  prediction->problem = problem.toStdString();
  m_asked = Asked{.id = m_lastId, .tab = m_tab, .subject = m_watched, .key = std::nullopt};
  take(std::move(prediction));
}

void Predictions::take(std::shared_ptr<const DocumentPrediction> prediction) {
  if (!m_asked || prediction->id != m_asked->id) return;
  Tab& tab = m_tabs[m_asked->tab];
  if (tab.newest && tab.newest->isKnown()) tab.before = tab.newest;
  tab.newest = std::move(prediction);
  tab.subject = std::move(m_asked->subject);
  tab.key = std::move(m_asked->key);
  if (m_asked->tab == m_tab) m_isPending = tab.subject != m_watched;
  m_asked.reset();
  Q_EMIT changed();
}

}  // namespace spanscope::ui
