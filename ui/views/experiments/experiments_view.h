// SPDX-License-Identifier: GPL-3.0-or-later
// The experiments page: the choice of an experiment, its fields, its progress and its results.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/experiments/experiments_model.h"

#include <QTimer>

#include <cstddef>
#include <memory>
#include <optional>

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
  QLineEdit* field(const QString& key) const;  ///< nullptr: there is none
  QComboBox* sourceChoice() const;             ///< nullptr: the experiment generates its documents
  QLineEdit* expectedField() const;            ///< nullptr: the experiment grades no answers
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
        count;        ///< nothing, and no problem: an augment finds the documents during the run
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
