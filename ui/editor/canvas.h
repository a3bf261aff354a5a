// SPDX-License-Identifier: GPL-3.0-or-later
// The node canvas draws a document as a tree in prompt order, and handles every gesture that edits the
// document.
#pragma once

#include "ui/commands/command_table.h"
#include "ui/document/document_model.h"
#include "ui/document/text_files.h"
#include "ui/session/simulator_asker.h"
#include "ui/session/view_input.h"

#include <QPointF>
#include <QWidget>

#include <memory>
#include <vector>

namespace spanscope::ui {

/// The part of the scene that the canvas shows. The session stores this part, but the document does not.
struct CanvasPlace {
  double zoom = 1;
  QPointF center;
  /// The canvas shows the whole query at any size of the canvas, until the user moves the view.
  bool isFitted = false;
  /// Whether the whole query was visible. If a canvas of another size does not show the whole query,
  /// setPlace() fits the query.
  bool isWhole = false;
};

/// The settings of the mouse on the canvas.
struct CanvasMouse {
  bool wheelZooms = false;  ///< true: the wheel zooms; false: the wheel zooms only with Ctrl
  bool dragPans = false;    ///< true: a drag on empty canvas selects only with Shift, and else moves the view
  bool snaps = true;        ///< dragged nodes snap to others and to the grid, unless Alt is held
};

class Canvas : public QWidget {
  Q_OBJECT
 public:
  explicit Canvas(QWidget* parent = nullptr);
  ~Canvas() override;

  /// The document to show and change; nullptr: none.
  void setModel(DocumentModel* model);
  /// Sets run states, badges, streamed text, selection and theme.
  void setInput(const ViewInput& input);
  /// Does the same as CanvasCore::useServers().
  void useServers(std::shared_ptr<const KnownServers> servers);

  /// The commands for nodes and for the view of the canvas.
  const CommandHandlers& commands() const;
  /// Runs a command of the canvas if the command is enabled. "node.add:OPERATOR" adds the operator at the
  /// selected node, where the operator fits. Returns false if the command is not a command of the canvas.
  bool perform(const QString& command);
  /// Whether the command is enabled.
  bool canPerform(const QString& command) const;

  /// Selects the node, opens collapsed nodes above it, and moves the view to show it.
  void reveal(document::NodeId node);
  /// Draws the node outside of a stack: opens the stack that contains the node.
  void showApart(document::NodeId node);
  /// Draws these nodes as separate cards until the next call, also if other nodes are in stacks. Returns
  /// whether nodes left their stacks.
  bool showNamed(const std::vector<document::NodeId>& nodes);
  /// The rectangle of the node, or of the stack that contains it, in pixels of the canvas. Null: the node is
  /// not drawn.
  QRect placeOf(document::NodeId node) const;

  /// Adds texts as children of a plus with addDocuments() of clipboard.h, and shows the new nodes. The
  /// addition is one undo step.
  void addDocuments(const std::vector<TextFile>& files);

  /// Fits the whole query into the canvas. If the whole query would be too small to read, shows a part of the
  /// query, such as the result.
  void fit();
  /// Sets the zoom up to which fit() enlarges a small query. Default: 1.
  void setMostFitZoom(double zoom);
  void setMouse(const CanvasMouse& mouse);
  CanvasPlace place() const;
  void setPlace(const CanvasPlace& place);

  /// Paints the whole query, for pictures.
  void paintTo(QPainter& painter, const QSize& size);

 Q_SIGNALS:
  void selectionWanted(const spanscope::ui::Selection& selection);
  /// The user requested a command that is not a command of the canvas, such as "run.run".
  void commandWanted(const QString& id);
  /// The user wants to edit the node's text. The inspector should take the focus.
  void editWanted(spanscope::document::NodeId node);
  /// The user dropped or pasted files.
  void filesDropped(const QStringList& paths);
  void messageWanted(const QString& text);  ///< for the status bar: the reason why a gesture did nothing

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::ui
