// SPDX-License-Identifier: GPL-3.0-or-later
// The node canvas draws a document as a tree in prompt order, and handles every gesture that edits the
// document.
#pragma once

#include "ui/commands/command_actions.h"
#include "ui/document/document_model.h"
#include "ui/document/text_files.h"
#include "ui/session/simulator_asker.h"
#include "ui/session/view_input.h"

#include <QPointF>
#include <QWidget>

#include <memory>
#include <vector>

namespace spanscope::ui {

/// The part of the scene that the canvas shows. The session stores it, the document does not.
struct CanvasPlace {
  double zoom = 1;
  QPointF center;
  /// The canvas shows the whole query at any size of the canvas, until the user moves the view.
  bool isFitted = false;
  /// The whole query was visible. If a canvas of another size does not show all of it, setPlace() fits the
  /// query.
  bool isWhole = false;
};

/// The settings of the mouse on the canvas.
struct CanvasMouse {
  bool wheelZooms = false;  ///< the wheel zooms, and scrolls with Ctrl; else the other way round
  bool dragPans = false;  ///< a drag on empty canvas moves the view, and selects with Shift; else it selects
  bool snaps = true;      ///< dragged nodes snap to others and to the grid, unless Alt is held
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
  /// Carries out a command of the canvas if that is possible now. "node.add:OPERATOR" adds that operator
  /// where it fits the selected node. Returns false if the command is not one of the canvas.
  bool perform(const QString& command);
  /// Whether the command would do something now.
  bool canPerform(const QString& command) const;

  /// Selects the node, opens collapsed nodes above it, and moves the view to show it.
  void reveal(document::NodeId node);
  /// The rectangle of the node, or of the stack that contains it, in pixels of the canvas. Null: the node is
  /// not drawn.
  QRect placeOf(document::NodeId node) const;

  /// Adds texts as children of a plus, as addDocuments() in clipboard.h does, and shows them. One undo step
  /// removes them.
  void addDocuments(const std::vector<TextFile>& files);

  /// Fits the whole query into the canvas. If it would be too small to read, shows a part, such as the
  /// result.
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
  /// The user requested a command that is not one of the canvas, such as "run.run".
  void commandWanted(const QString& id);
  /// The user wants to edit the node's text. The inspector should take the focus.
  void editWanted(spanscope::document::NodeId node);
  /// The user dropped or pasted files.
  void filesDropped(const QStringList& paths);
  void messageWanted(const QString& text);  ///< for the status bar: why a gesture did nothing

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::ui
