// SPDX-License-Identifier: GPL-3.0-or-later
// The node canvas draws a document as a tree that reads like the prompt, and handles every gesture that edits
// it.
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

/// The part of the scene that the canvas shows. It is kept with the session, not in the document.
struct CanvasPlace {
  double zoom = 1;
  QPointF center;
  /// The canvas keeps showing the whole query, whatever its own size, until the person moves the view.
  bool isFitted = false;
  /// All of the query was in sight. Where it no longer is, in another size, setPlace() fits it.
  bool isWhole = false;
};

/// What the mouse does on the canvas.
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
  /// Run states, badges, streamed text, selection and theme.
  void setInput(const ViewInput& input);
  /// As CanvasCore::useServers().
  void useServers(std::shared_ptr<const KnownServers> servers);

  /// The commands that concern nodes and where the canvas looks.
  const CommandHandlers& commands() const;
  /// Carries out a command of the canvas if it can be carried out now. "node.add:OPERATOR" adds that operator
  /// where it fits the selected node. Returns false if the command is not one of the canvas.
  bool perform(const QString& command);
  /// Whether the command would do something now.
  bool canPerform(const QString& command) const;

  /// Selects the node, opens collapsed nodes above it, and moves the view to show it.
  void reveal(document::NodeId node);
  /// Where the node is drawn, or the stack that it lies in, in pixels of the canvas; null: nowhere.
  QRect placeOf(document::NodeId node) const;

  /// Makes texts children of a plus, where addDocuments() says, and shows them. One undo step takes them
  /// back.
  void addDocuments(const std::vector<TextFile>& files);

  /// Shows the query as large as it can be read, and its result if not all of it fits.
  void fit();
  /// The zoom up to which fit() enlarges a small query, and keeps it fitted: 1, until it is set.
  void setMostFitZoom(double zoom);
  void setMouse(const CanvasMouse& mouse);
  CanvasPlace place() const;
  void setPlace(const CanvasPlace& place);

  /// Paints the whole query, for pictures.
  void paintTo(QPainter& painter, const QSize& size);

 Q_SIGNALS:
  void selectionWanted(const spanscope::ui::Selection& selection);
  /// The person asks for a command that is not one of the canvas (e.g. "run.run").
  void commandWanted(const QString& id);
  /// The person wants to edit the node's text: the inspector should take the focus.
  void editWanted(spanscope::document::NodeId node);
  /// The person dropped or pasted files.
  void filesDropped(const QStringList& paths);
  void messageWanted(const QString& text);  ///< for the status bar: why a gesture did nothing

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::ui
