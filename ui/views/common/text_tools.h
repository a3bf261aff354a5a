// SPDX-License-Identifier: GPL-3.0-or-later
// What editors of a document's texts share.
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

/// Makes the editor hold `text` by replacing what differs, so that the cursor and the place that is looked at
/// stay where they are.
void replaceText(QPlainTextEdit& editor, const QString& text);

/// A label in one of the theme's colours; `Role::Error` for reasons why an input is refused.
void colorLabel(QLabel& label, const Theme& theme, Role role);
/// Sets a style sheet where it differs: setting one is dear.
void setSheet(QWidget& widget, const QString& sheet);

/// Watches an editor: undo and redo there are those of the document, and what is typed before the editor is
/// left is one command. Owned by the editor.
class DocumentUndo : public QObject {
  Q_OBJECT
 public:
  using ModelOf = std::function<document::DocumentModel*()>;
  DocumentUndo(QWidget* editor, ModelOf model);

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  ModelOf m_model;
};

/// Keeps the wheel from changing a value that the person only scrolls past. Owned by the widget.
void ignoreWheelWithoutFocus(QWidget* widget);

}  // namespace spanscope::ui
