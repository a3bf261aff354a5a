// SPDX-License-Identifier: GPL-3.0-or-later
// A field in which a person chooses a reuse policy from the list of all, and enters the values of its
// parameters, if it has some.
#pragma once

#include "engine/policy/choice.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <functional>
#include <string>

class QComboBox;
class QLabel;

namespace spanscope::ui {

class CheckedField;

class PolicyField : public QWidget {
  Q_OBJECT
 public:
  /// `take` gets what the person has chosen or typed.
  using Take = std::function<void(const policy::Choice&)>;

  PolicyField(Take take, QWidget* parent);

  /// Shows a policy, given as documents write it.
  void show(const std::string& policy, const Theme& theme);

  QComboBox* combo() const { return m_combo; }
  CheckedField* values() const { return m_values; }

 private:
  void choose(int index);
  QString takeValues(const QString& text);

  Take m_take;
  policy::Choice m_shown;
  QComboBox* m_combo;
  QLabel* m_label;  ///< label of the values
  CheckedField* m_values;
};

}  // namespace spanscope::ui
