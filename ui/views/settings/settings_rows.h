// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a form whose fields are settings of the document.
#pragma once

#include "ui/document/document_model.h"
#include "ui/theme/theme.h"

#include <QObject>
#include <QString>

#include <functional>
#include <vector>

class QGridLayout;
class QLabel;
class QWidget;

namespace spanscope::ui {

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
  /// Adds a row and returns its label. Returns nullptr if `label` is empty: the field itself says what it is
  /// for.
  QLabel* addRow(const QString& label, QWidget* field);
  /// Adds a text below a field.
  QLabel* addHint();
  /// Adds a text over the whole width.
  QLabel* addNote(const QString& text);

  /// Changes the document in an undo step with this name. Changes with the same non-empty key are one undo
  /// step until endMerge(). Does nothing while a Showing exists.
  void change(const QString& name, const QString& key, const Change& change);
  void endMerge();

  void setTheme(const Theme& theme);
  /// While an object of this class exists, the values in the fields come from the document and not from the
  /// person.
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
