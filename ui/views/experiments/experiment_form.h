// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "ui/theme/theme.h"

#include <QString>
#include <QWidget>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;

namespace spanscope::ui {

/// The fields of an experiment, one row each. The form restores the last values of each experiment.
class ExperimentForm : public QWidget {
  Q_OBJECT
 public:
  explicit ExperimentForm(QWidget* parent = nullptr);

  /// Shows the fields of this experiment, and returns its last number of repeats. `repeatsBefore`: repeats of
  /// the experiment shown before.
  std::int32_t showExperiment(const experiment::Experiment& shown, std::int32_t repeatsBefore);
  /// Values by field.
  std::map<std::string, std::string> values() const;
  /// The source of the documents, and the expected answer. The source is Made if the experiment cannot use
  /// the user's documents. The answer is empty unless the experiment grades answers about these documents.
  experiment::DocumentSource source() const;
  void setSource(experiment::DocumentSource source);
  std::string expected() const;
  void setExpected(const QString& answer);
  QComboBox* sourceChoice() const { return m_source; }     ///< nullptr: there is none
  QLineEdit* expectedField() const { return m_expected; }  ///< nullptr: there is none.
  /// Fills in the numbers of documents, unless the user typed others.
  void fitNumbers(std::optional<std::size_t> ownDocuments);
  void setValue(const QString& key, const QString& value);
  QLineEdit* field(const QString& key) const;  ///< nullptr: there is none.
  /// The widgets that take the focus, from top to bottom, and from left to right in a row.
  const std::vector<QWidget*>& focusOrder() const { return m_focusOrder; }
  void setReadOnly(bool isReadOnly);
  void setTheme(const Theme& theme);

 Q_SIGNALS:
  void changed();
  void runWanted();  ///< the user pressed Return in a field

 private:
  void addRow(const experiment::ExperimentField& field, const std::string& value, int row);
  int addOwnRows(const experiment::Experiment& shown, const experiment::ExperimentRequest& request);
  QLabel* addLabel(const QString& name, QWidget& buddy, int row);
  void showSource();

  QGridLayout* m_grid;
  std::map<QString, QLineEdit*> m_fields;
  QComboBox* m_source = nullptr;
  QLineEdit* m_expected = nullptr;
  QString m_fitted;  ///< numbers that fitNumbers() filled in; empty: none
  std::vector<QWidget*> m_focusOrder;
  std::string m_made;  ///< the experiment whose fields are shown
  std::map<std::string, experiment::ExperimentRequest> m_stackChoices;  ///< last requests, by experiment
};

}  // namespace spanscope::ui
