// SPDX-License-Identifier: GPL-3.0-or-later
// The node canvas: a document drawn as a tree that reads like the prompt, and every gesture that edits it.
#pragma once

#include "ui/commands/command_handlers.h"
#include "ui/document/document_model.h"
#include "ui/session/view_input.h"

#include <QPointF>
#include <QWidget>

#include <memory>

namespace spanscope::ui {

/// Where the canvas looks: kept with the session, not with the document.
struct CanvasPlace {
  double zoom = 1;
  QPointF center;
  bool isFitted = false;  ///< the whole query is shown in any size, until the person looks elsewhere
};

class Canvas : public QWidget {
  Q_OBJECT
 public:
  explicit Canvas(QWidget* parent = nullptr);
  ~Canvas() override;

  /// The document to show and change; nullptr: none.
  void setModel(document::DocumentModel* model);
  /// Run states, badges, streamed text, selection and theme.
  void setInput(const ViewInput& input);

  /// The commands that concern nodes and where the canvas looks.
  const CommandHandlers& commands() const;
  /// Carries out one of them if it can; "node.add:OPERATOR" adds that operator where it fits the selected
  /// node. False: it is none of the canvas's.
  bool perform(const QString& command);
  /// Whether the command would do something now.
  bool canPerform(const QString& command) const;

  /// Selects the node, opens collapsed nodes above it, and moves it into sight.
  void reveal(document::NodeId node);

  CanvasPlace place() const;
  void setPlace(const CanvasPlace& place);

  /// The whole query, for pictures.
  void paintTo(QPainter& painter, const QSize& size);

 Q_SIGNALS:
  void selectionWanted(const spanscope::ui::Selection& selection);
  /// A command that is not the canvas's own is asked for (e.g. "run.run").
  void commandWanted(const QString& id);
  /// The node's text is to be edited: the inspector should take the focus.
  void editWanted(spanscope::document::NodeId node);
  /// Files were dropped.
  void filesDropped(const QStringList& paths);
  void messageWanted(const QString& text);  ///< for the status bar: why a gesture did nothing

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::ui
