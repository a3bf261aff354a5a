// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/experiments/experiments_model.h"

#include "engine/experiment/experiment_chart.h"
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
  // A narrow dock cuts the end of the line.
  model.doing = withTimeLeft(job->secondsLeft, QString::fromStdString(result.doing));
  if (!result.model.empty()) model.setup = QString::fromStdString(experiment::experimentSetup(result));
  model.isProblem = job->state == workbench::JobState::Failed;
  if (model.isProblem) model.remarks += job->problem;
  if (job->state == workbench::JobState::Stopped)
    model.remarks += tr("Stopped. Finished measurements are kept.");
  for (const std::string& remark : result.remarks) model.remarks += QString::fromStdString(remark);
  if (result.points.empty()) return model;
  const experiment::ExperimentTable table = experiment::experimentTable(result);
  QStringList titles{experimentWord(QT_TRANSLATE_NOOP("Experiments", "line")), model.xName};
  if (!model.rowName.isEmpty()) titles += model.rowName;
  titles += experimentWord(QT_TRANSLATE_NOOP("Experiments", "samples"));
  const auto places = static_cast<std::size_t>(titles.size());  // columns before the measures
  for (const QString& one : model.measures)
    titles += {one, experimentWord(QT_TRANSLATE_NOOP("Experiments", "spread"))};
  model.table.headers = {titles.begin(), titles.end()};
  const auto isSpread = [places](std::size_t column) {
    return column > places && (column - places) % 2 == 1;
  };
  for (std::size_t c = 0; c < model.table.headers.size(); ++c)
    model.table.shares.push_back(c == 0 ? 9 : c < places ? 4 : isSpread(c) ? 8 : 10);
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<PaintedCell>& cells = model.table.rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const QString text = QString::fromStdString(row[c]);
      cells.push_back({.text = text,
                       .ink = isSpread(c) ? Role::TextSecond : Role::Text,
                       .mono = c > 0,
                       .isRight = c > 0,
                       .raw = c == 0 ? QVariant() : leadingNumber(text)});
    }
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
  QString text =
      model.title + QLatin1Char('\n') + model.setup + QStringLiteral("\n\n") + tabbedText(model.table);
  for (const QString& remark : model.remarks) text += remark + QLatin1Char('\n');
  return text;
}

}  // namespace spanscope::ui
