// SPDX-License-Identifier: GPL-3.0-or-later
// The dialog in which the user chooses a metric of a recorded lesson.
#pragma once

#include "engine/lesson/offers.h"
#include "ui/theme/theme.h"

#include <QDialog>
#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QPushButton;
class QTableWidget;

namespace spanscope::ui {

/// Lists the metrics of a run with their current values. The user chooses a metric, or a true comparison of a
/// metric.
class MetricPicker : public QDialog {
  Q_OBJECT
 public:
  enum class Kind : std::uint8_t {
    Any,         ///< a metric for a sentence
    Number,      ///< a metric that is a number
    Block,       ///< a metric that is a block
    Comparison,  ///< a true comparison; metrics of time are omitted
  };

  /// The runs and metrics from which the user chooses.
  struct Choice {
    Kind kind = Kind::Any;
    std::uint32_t runs = 1;        ///< number of runs, at least 1; runs that have not ended have no values
    std::uint32_t run = 1;         ///< the run that is chosen at first, from 1
    std::optional<NodePath> node;  ///< a node whose metrics are offered, too
    QString nodeName{};            ///< for the user
    lesson::FactsOf factsOf;
  };
  MetricPicker(Choice choice, const Theme& theme, QWidget* parent = nullptr);

  /// Returns the chosen expression or comparison. Empty: none is chosen.
  QString chosen() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fill();
  void showChosen();
  const lesson::OfferedMetric* current() const;

  Choice m_choice;
  std::vector<lesson::OfferedMetric> m_metrics;  ///< by row of the table
  QComboBox* m_run;
  QComboBox* m_of;
  QLineEdit* m_search;
  QTableWidget* m_table;
  QLabel* m_meaning;
  QListWidget* m_said;  ///< comparisons; hidden if a metric is chosen
  QPushButton* m_take;
};

}  // namespace spanscope::ui
