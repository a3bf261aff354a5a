// SPDX-License-Identifier: GPL-3.0-or-later
// Helpers for editors of a document's texts.
#pragma once

#include "ui/document/document_model.h"
#include "ui/theme/theme.h"

#include <QObject>
#include <QPointer>
#include <QString>

#include <functional>

class QLabel;
class QPlainTextEdit;

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

}  // namespace spanscope::ui
