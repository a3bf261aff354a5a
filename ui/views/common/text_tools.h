// SPDX-License-Identifier: GPL-3.0-or-later
// Helpers for editors of a document's texts.
#pragma once

#include "ui/document/document_model.h"
#include "ui/theme/theme.h"

#include <QObject>
#include <QPointer>
#include <QString>
#include <QWidget>

#include <cstdint>
#include <functional>
#include <optional>

class QLabel;
class QPlainTextEdit;
class QLineEdit;
class QVBoxLayout;

namespace spanscope::ui {

/// Sets the editor's text by replacing only the different range. So the cursor and the scroll position do not
/// change.
void replaceText(QPlainTextEdit& editor, const QString& text);

/// Gives a label one of the theme's colours. Reasons for a refused input use `Role::Error`.
void colorLabel(QLabel& label, const Theme& theme, Role role);
/// Sets a style sheet only if it differs, because setting a style sheet is slow.
void setSheet(QWidget& widget, const QString& sheet);

/// The undo history that the keys Undo and Redo use.
enum class UndoHistory { Query, Settings };

/// Watches an editor or another field. Undo and redo in the editor act on the document. All typing until the
/// focus leaves the editor is one undo step. The editor owns this object.
class DocumentUndo : public QObject {
  Q_OBJECT
 public:
  using ModelOf = std::function<DocumentModel*()>;
  DocumentUndo(QWidget* editor, ModelOf model, UndoHistory history = UndoHistory::Query);

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  ModelOf m_model;
  UndoHistory m_history;
};

/// Ignores the wheel over a widget without focus, so that scrolling past the widget does not change its
/// value. The widget owns the filter.
void ignoreWheelWithoutFocus(QWidget* widget);

// A line edit for a value. The line edit does not apply an invalid value, but marks the value and shows the
// reason below.

class CheckedField : public QWidget {
  Q_OBJECT
 public:
  /// Applies a text and returns an empty string, or changes nothing and returns the reason.
  using Apply = std::function<QString(const QString& text)>;

  CheckedField(const QString& accessibleName, Apply apply, QWidget* parent);

  /// Shows the document's value. Does nothing if the user is typing and the value did not change.
  void setText(const QString& text);
  QString text() const;
  QString reason() const;  ///< empty: the text is valid
  QLineEdit* line() const { return m_line; }
  void setTheme(const Theme& theme);

 private:
  void check(const QString& text);
  void setReason(const QString& reason);

  Apply m_apply;
  Theme m_theme;
  QLineEdit* m_line;
  QLabel* m_reason;
  QString m_shown;  ///< the document's value as the document writes it
  bool m_isApplying = false;
};

/// Reads a number that the user typed. Returns nothing if the text is no number in `least` … `most`.
std::optional<std::int64_t> wholeNumber(const QString& text, std::int64_t least, std::int64_t most);
std::optional<std::uint64_t> seedNumber(const QString& text);
std::optional<float> floatNumber(const QString& text);

}  // namespace spanscope::ui
