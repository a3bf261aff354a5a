// SPDX-License-Identifier: GPL-3.0-or-later
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

/// Lists the figures of a run with the values that they have now, for a person to choose one, or something
/// that can be said of one.
class MetricPicker : public QDialog {
  Q_OBJECT
 public:
  enum class Kind : std::uint8_t {
    Any,         ///< a figure for a sentence
    Number,      ///< one that a number can be asked of
    Block,       ///< one that is a block
    Comparison,  ///< what holds of one: times are left out
  };

  /// What can be chosen from.
  struct Choice {
    Kind kind = Kind::Any;
    std::uint32_t runs = 1;        ///< from 1, at least one; those that are not made have no values
    std::uint32_t run = 1;         ///< chosen at first
    std::optional<NodePath> node;  ///< of which figures can be had too
    lesson::FactsOf factsOf;
  };
  MetricPicker(Choice choice, const Theme& theme, QWidget* parent = nullptr);

  /// The expression or comparison; empty: none is chosen.
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
  QListWidget* m_said;  ///< comparisons; hidden for other wishes
  QPushButton* m_take;
};

}  // namespace spanscope::ui
