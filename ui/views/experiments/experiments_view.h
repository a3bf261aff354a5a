// SPDX-License-Identifier: GPL-3.0-or-later
// The page of experiments: which one, what of it is swept, how far it is, and what it found.
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
  /// What the fields ask for.
  experiment::ExperimentRequest request() const;
  void setRequest(const experiment::ExperimentRequest& request);
  /// Takes the wish of "run.experiment:WISH". Throws Failure for an experiment or a value that there is not.
  void perform(const QString& command) override;
  void choose(const QString& name);
  QLineEdit* field(const QString& key) const;  ///< nullptr: there is none
  QComboBox* sourceChoice() const;             ///< nullptr: the experiment makes up what it measures
  QLineEdit* expectedField() const;            ///< nullptr: it judges no answers
  QPushButton& runButton() { return *m_run; }
  /// Draws it in another way, of those that the experiment has; histograms at one place or at all.
  void setChart(experiment::ChartKind kind, std::optional<double> place = {});
  CellChart& heatMap();
  CellChart& histograms();
  /// What goes on, what is wrong with the fields, or how long it would take.
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
  /// What is wrong with the fields, in words; nothing: nothing is.
  QString requestProblem();
  QString chosen() const;
  QString introduction() const;

  ExperimentsModel m_model;
  ExperimentLook m_look;
  std::optional<Theme> m_shown;  ///< that the widgets were filled with
  /// The documents of the query in view, counted anew when it has changed.
  struct OwnCount {
    std::shared_ptr<const document::Document> document;
    std::optional<std::size_t> count;  ///< nothing without a problem: an augment finds them when it runs
    QString problem;                   ///< why there are none
  };
  /// How long the wish takes, in words; it asks where that is not known.
  QString estimate();
  QTimer m_asking;  ///< until the person who types has paused
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
