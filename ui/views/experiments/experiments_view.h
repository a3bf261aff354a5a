// SPDX-License-Identifier: GPL-3.0-or-later
// The experiments page: the choice of an experiment, its fields, its progress and its results.
#pragma once

#include "engine/experiment/chart.h"
#include "engine/experiment/experiment_chart.h"
#include "ui/session/measure_requests.h"
#include "ui/session/view_input.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/table_painting.h"

#include <QString>
#include <QStringList>
#include <QTimer>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QHBoxLayout;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QToolButton;

namespace spanscope::ui {

// The content of the experiments page: the chosen experiment, and the table, the chart and the remarks of its
// run.

struct ExperimentsModel {
  bool isRunning = false;  ///< an experiment is running
  bool isKnown = false;    ///< the chosen experiment runs or has run
  double progress = 0;
  QString doing;  ///< the current action and the time left
  QString setup;  ///< the conditions of the measurement
  QStringList remarks;
  bool isProblem = false;  ///< the first remark is an error
  QStringList measures;    ///< measures of the chosen experiment that a chart can show
  std::size_t measure = 0;
  QString title;
  QString xName;
  QString rowName;  ///< name of the second axis; empty: there is none
  QString yName;    ///< name of the shown measure
  PaintedTable table;
  std::vector<experiment::ChartKind> kinds;  ///< the possible kinds of chart
  experiment::ChartKind kind = experiment::ChartKind::Lines;
  std::vector<double> places;  ///< the places that have histograms
  std::optional<double> place;
  experiment::Chart chart;  ///< of this kind, in the language of the window
  bool operator==(const ExperimentsModel&) const = default;
};

/// The options of the chart that the user has chosen.
struct ExperimentLook {
  std::size_t measure = 0;
  std::optional<experiment::ChartKind> kind{};
  std::optional<double> place{};
};

/// `name`: of the chosen experiment.
ExperimentsModel experimentsModel(const ViewInput& input, const QString& name, const ExperimentLook& look);

/// "Lines", "Heat map", "Histograms"
QString chartKindTitle(experiment::ChartKind kind);

/// The table with tabs, for the clipboard.
QString experimentText(const ExperimentsModel& model);

class CellChart;
class ExperimentForm;
class ExperimentPlot;
class HeatMapChart;
class HistogramChart;
class ResultTable;

class ExperimentsView : public InputView {
  Q_OBJECT
 public:
  explicit ExperimentsView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const ExperimentsModel& model() const { return m_model; }
  /// The request that the fields describe.
  experiment::ExperimentRequest request() const;
  void setRequest(const experiment::ExperimentRequest& request);
  /// Takes the request of "run.experiment:REQUEST". Throws Failure for an unknown experiment or value.
  void perform(const QString& command) override;
  void choose(const QString& name);
  const ExperimentForm& form() const { return *m_form; }
  QPushButton& runButton() { return *m_run; }
  /// Shows another kind of chart of the experiment. `place`: the place of the histograms; nothing: all
  /// places.
  void setChart(experiment::ChartKind kind, std::optional<double> place = {});
  CellChart& heatMap();
  CellChart& histograms();
  /// The text of the status line: the progress, a problem of the fields, or the estimated time.
  QString said() const;

 protected:
  void refresh() override;

 private:
  QWidget* makeHead();
  QWidget* makeResults();
  QHBoxLayout* makeDrawingRow(QWidget* head);
  void makeFields();
  void fillChoices();
  void showChart();
  void checkRequest();
  void runOrStop();
  /// The problem of the fields, in words; empty: there is none.
  QString requestProblem();
  QString chosen() const;
  QString introduction() const;

  ExperimentsModel m_model;
  ExperimentLook m_look;
  std::optional<Theme> m_shown;  ///< the theme of the widgets.
  /// The documents of the current query, counted when the query changes.
  struct OwnCount {
    std::shared_ptr<const document::Document> document;
    std::optional<std::size_t>
        count;        ///< nothing without a problem: an augment finds the documents during the run
    QString problem;  ///< why there is no count
  };
  /// The estimated time of the request, in words. If the time is unknown, starts m_asking.
  QString estimate();
  QTimer m_asking;  ///< ends when the user stops typing, and requests an estimate
  const OwnCount& ownCount();
  OwnCount m_ownCount;
  QComboBox* m_choice = nullptr;
  QLabel* m_brief = nullptr;
  ExperimentForm* m_form = nullptr;
  QSpinBox* m_repeats = nullptr;
  QPushButton* m_run = nullptr;
  QToolButton* m_copy = nullptr;
  QComboBox* m_measure = nullptr;
  QComboBox* m_chart = nullptr;
  QComboBox* m_place = nullptr;
  QLabel* m_doing = nullptr;
  QProgressBar* m_progress = nullptr;
  QScrollArea* m_scroll = nullptr;
  QLabel* m_setup = nullptr;
  ExperimentPlot* m_plot = nullptr;
  HeatMapChart* m_heatMap = nullptr;
  HistogramChart* m_histograms = nullptr;
  ResultTable* m_table = nullptr;
  QLabel* m_remarks = nullptr;
};

}  // namespace spanscope::ui
