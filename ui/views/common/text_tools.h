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

/// Gives the editor this text by replacing only what differs, so that the cursor and the scroll position
/// stay.
void replaceText(QPlainTextEdit& editor, const QString& text);

/// Gives a label one of the theme's colours. Reasons why an input is refused use `Role::Error`.
void colorLabel(QLabel& label, const Theme& theme, Role role);
/// Sets a style sheet only if it differs, because setting one is slow.
void setSheet(QWidget& widget, const QString& sheet);

/// Which of a document's undo histories keys act on.
enum class UndoHistory { Query, Settings };

/// Watches an editor, or any other field: undo and redo there act on the document, and all typing until the
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

/// Keeps the wheel from changing the value of a widget without focus, which the person only scrolls past. The
/// widget owns the filter.
void ignoreWheelWithoutFocus(QWidget* widget);

}  // namespace spanscope::ui
