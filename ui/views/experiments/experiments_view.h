// SPDX-License-Identifier: GPL-3.0-or-later
// The page of experiments: which one, what of it is swept, how far it is, and what it found.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/experiments/experiments_model.h"

#include <map>
#include <optional>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QTableWidget;
class QToolButton;

namespace spanscope::ui {

class ExperimentPlot;

class ExperimentsView : public InputView {
  Q_OBJECT
 public:
  explicit ExperimentsView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const ExperimentsModel& model() const { return m_model; }
  /// What the fields ask for.
  experiment::ExperimentWish wish() const;
  void setWish(const experiment::ExperimentWish& wish);
  void choose(const QString& name);
  QLineEdit* field(const QString& key) const;  ///< nullptr: there is none
  QPushButton& runButton() { return *m_run; }

 protected:
  void refresh() override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* makeHead();
  QWidget* makeResults();
  void makeFields();
  void keepFields();
  void checkWish();
  void fillTable();
  void fitTable();
  void runOrStop();
  QString chosen() const;
  QString introduction() const;

  ExperimentsModel m_model;
  std::optional<Theme> m_shown;                            ///< that the widgets were filled with
  std::map<QString, experiment::ExperimentWish> m_wishes;  ///< as they were left, by experiment
  QComboBox* m_choice = nullptr;
  QLabel* m_brief = nullptr;
  QWidget* m_form = nullptr;
  QGridLayout* m_grid = nullptr;
  std::map<QString, QLineEdit*> m_fields;
  QString m_made;  ///< the experiment whose fields are there
  QSpinBox* m_repeats = nullptr;
  QPushButton* m_run = nullptr;
  QToolButton* m_copy = nullptr;
  QComboBox* m_measure = nullptr;
  QLabel* m_doing = nullptr;
  QProgressBar* m_progress = nullptr;
  QScrollArea* m_scroll = nullptr;
  QLabel* m_setup = nullptr;
  ExperimentPlot* m_plot = nullptr;
  QTableWidget* m_table = nullptr;
  QLabel* m_remarks = nullptr;
};

}  // namespace spanscope::ui
