// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the field of a setting from its description. Also makes the form rows of such fields.
#pragma once

#include "engine/policy/choice.h"
#include "engine/workbench/settings.h"
#include "ui/document/document_model.h"
#include "ui/theme/theme.h"

#include <QObject>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

class QComboBox;
class QGridLayout;
class QLabel;
class QWidget;

namespace spanscope::ui {

class SettingsRows;

struct SettingField {
  const workbench::Setting* setting = nullptr;
  QWidget* widget = nullptr;  ///< owned by the owner of the rows
  std::function<void(const workbench::RunSettings&, const Theme&)> show;
};

/// Makes a field by the setting's type:
/// - a spin box for a number
/// - a combo box for names
/// - a check box for a flag
/// - a line edit for a text, a seed or a list.
/// Input changes the document through `rows`, which must live as long as the field.
SettingField makeSettingField(const workbench::Setting& setting, SettingsRows& rows);

/// "all", or the layers separated by commas.
QString layersText(const std::vector<std::int32_t>& layers);
/// Reads the layers from such a text. Returns nothing if the text is invalid.
std::optional<std::vector<std::int32_t>> readLayers(const QString& text);

// A field for choosing a reuse policy from the list of all policies. If the policy has parameters, the field
// also has their values.

class CheckedField;

class PolicyField : public QWidget {
  Q_OBJECT
 public:
  /// `take` gets the policy that the user chose or typed.
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

// The rows of a form whose fields are settings of the document.

class SettingsRows : public QObject {
  Q_OBJECT
 public:
  using ModelOf = std::function<DocumentModel*()>;
  using Change = std::function<void(document::RunSettings&)>;

  /// The fields are children of `owner`, which holds the grid. This object may be destroyed before the
  /// fields.
  SettingsRows(QWidget& owner, QGridLayout& grid, ModelOf model);

  QWidget* owner() const { return &m_owner; }

  QLabel* addHeader(const QString& title);
  /// Adds a row and returns its label. Returns nullptr if `label` is empty because the field has its own
  /// text.
  QLabel* addRow(const QString& label, QWidget* field);
  /// Adds a text below a field.
  QLabel* addHint();
  /// Adds a text over the whole width.
  QLabel* addNote(const QString& text);

  /// Changes the document in an undo step with this name. Until endMerge(), changes with the same non-empty
  /// key are one undo step. Does nothing while a Showing exists.
  void change(const QString& name, const QString& key, const Change& change);
  void endMerge();

  void setTheme(const Theme& theme);
  /// While an object of this class exists, values in the fields come from the document, not from the user.
  class Showing {
   public:
    explicit Showing(SettingsRows& rows) : m_rows(rows) { m_rows.m_isShowing = true; }
    ~Showing() { m_rows.m_isShowing = false; }
    Showing(const Showing&) = delete;
    Showing& operator=(const Showing&) = delete;

   private:
    SettingsRows& m_rows;
  };

 private:
  QWidget& m_owner;
  QGridLayout& m_grid;
  ModelOf m_model;
  std::vector<QLabel*> m_headers;
  std::vector<QLabel*> m_labels;
  std::vector<QLabel*> m_hints;
  bool m_isShowing = false;
};

}  // namespace spanscope::ui
