// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiments_model.h"

#include "engine/experiment/experiment_chart.h"
#include "engine/experiment/experiment_table.h"
#include "engine/jobs/experiment.h"
#include "ui/session/job_estimate.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {
namespace {

std::string translated(const char* text) {
  return experimentWord(text).toStdString();
}

}  // namespace

QString chartKindTitle(experiment::ChartKind kind) {
  switch (kind) {
    case experiment::ChartKind::Lines:
      return tr("Lines");
    case experiment::ChartKind::HeatMap:
      return tr("Heat map");
    case experiment::ChartKind::Histograms:
      return tr("Histograms");
  }
  return {};
}

ExperimentsModel experimentsModel(const ViewInput& input, const QString& name, const ExperimentLook& look) {
  ExperimentsModel model;
  const MeasuredJob* job = findMeasured(input.measured, jobs::ExperimentJob::kId);
  model.isRunning = job != nullptr && job->isRunning();
  const experiment::Experiment* chosen = experiment::findExperiment(name.toStdString());
  if (chosen == nullptr) return model;
  for (const experiment::Measure& one : chosen->measures)
    model.measures += QString::fromStdString(experiment::measureTitle(one, translated));
  model.measure = std::min(look.measure, chosen->measures.size() - 1);
  model.title = experimentWord(chosen->title);
  model.xName = experimentWord(chosen->xName);
  model.rowName = *chosen->yName == '\0' ? QString() : experimentWord(chosen->yName);
  model.kinds = experiment::chartKindsOf(*chosen);
  const auto wanted = std::find(model.kinds.begin(), model.kinds.end(), look.kind);
  model.kind = wanted == model.kinds.end() ? model.kinds.front() : *wanted;
  model.yName = model.measures.value(static_cast<qsizetype>(model.measure));
  if (job == nullptr) return model;
  const experiment::ExperimentResult& result = *measured<jobs::ExperimentJob>(input.measured);
  if (result.request.experiment != chosen->name) return model;
  model.isKnown = true;
  model.progress = result.progress();
  // In a narrow dock the end of the line is what is cut.
  model.doing = withTimeLeft(job->secondsLeft, QString::fromStdString(result.doing));
  if (!result.model.empty()) model.setup = QString::fromStdString(experiment::experimentSetup(result));
  model.isProblem = job->state == workbench::JobState::Failed;
  if (model.isProblem) model.remarks += job->problem;
  if (job->state == workbench::JobState::Stopped)
    model.remarks += tr("Stopped: what was measured by then stands.");
  for (const std::string& remark : result.remarks) model.remarks += QString::fromStdString(remark);
  if (result.points.empty()) return model;
  const experiment::ExperimentTable table = experiment::experimentTable(result);
  model.columns = {experimentWord(QT_TRANSLATE_NOOP("Experiments", "line")), model.xName};
  if (!model.rowName.isEmpty()) model.columns += model.rowName;
  model.columns += experimentWord(QT_TRANSLATE_NOOP("Experiments", "samples"));
  for (const QString& one : model.measures)
    model.columns += {one, experimentWord(QT_TRANSLATE_NOOP("Experiments", "spread"))};
  for (const std::vector<std::string>& row : table.rows) {
    QStringList& cells = model.rows.emplace_back();
    for (const std::string& cell : row) cells += QString::fromStdString(cell);
  }
  for (const experiment::ExperimentPoint& point : result.points) model.places.push_back(point.x);
  std::sort(model.places.begin(), model.places.end());
  model.places.erase(std::unique(model.places.begin(), model.places.end()), model.places.end());
  if (look.place && std::binary_search(model.places.begin(), model.places.end(), *look.place))
    model.place = look.place;
  model.chart = experiment::experimentChart(
      result, {.measure = model.measure, .kind = model.kind, .place = model.place}, translated);
  return model;
}

QString experimentText(const ExperimentsModel& model) {
  QString text = model.title + QLatin1Char('\n') + model.setup + QStringLiteral("\n\n") +
                 model.columns.join(QLatin1Char('\t')) + QLatin1Char('\n');
  for (const QStringList& row : model.rows) text += row.join(QLatin1Char('\t')) + QLatin1Char('\n');
  for (const QString& remark : model.remarks) text += remark + QLatin1Char('\n');
  return text;
}

}  // namespace spanscope::ui
