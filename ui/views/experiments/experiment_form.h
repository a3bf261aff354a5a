// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "ui/theme/theme.h"

#include <QString>
#include <QWidget>

#include <map>
#include <vector>

class QGridLayout;
class QLineEdit;

namespace spanscope::ui {

/// The fields of an experiment, a row each; what was typed for one experiment is there again when it comes
/// back.
class ExperimentForm : public QWidget {
  Q_OBJECT
 public:
  explicit ExperimentForm(QWidget* parent = nullptr);

  /// Rows of this experiment. Returns how often it is repeated, as it was left.
  std::int32_t showExperiment(const experiment::Experiment& shown, std::int32_t repeatsBefore);
  /// Values by field.
  std::map<std::string, std::string> values() const;
  void setValue(const QString& key, const QString& value);
  QLineEdit* field(const QString& key) const;  ///< nullptr: there is none
  /// All that takes the focus, from top to bottom, and from left to right in a row.
  const std::vector<QWidget*>& focusOrder() const { return m_focusOrder; }
  void setReadOnly(bool isReadOnly);
  void setTheme(const Theme& theme);

 Q_SIGNALS:
  void changed();
  void runWanted();  ///< Return in a field

 private:
  void addRow(const experiment::ExperimentField& field, const std::string& value, int row);

  QGridLayout* m_grid;
  std::map<QString, QLineEdit*> m_fields;
  std::vector<QWidget*> m_focusOrder;
  std::string m_made;                                          ///< the experiment whose fields are there
  std::map<std::string, experiment::ExperimentWish> m_wishes;  ///< as they were left, by experiment
};

}  // namespace spanscope::ui
