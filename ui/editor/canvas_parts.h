// SPDX-License-Identifier: GPL-3.0-or-later
// Builds the canvas from its parts, and connects the parts.
#pragma once

#include "ui/editor/add_rules.h"
#include "ui/editor/canvas.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_gestures.h"
#include "ui/editor/canvas_scene.h"
#include "ui/editor/canvas_view.h"
#include "ui/editor/overlays.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <functional>
#include <optional>
#include <set>
#include <vector>

class QContextMenuEvent;
class QKeyEvent;
class QLabel;
class QMimeData;

namespace spanscope::ui {

/// Adds the commands that change the document or the selection and need no other widget. `pointer` returns
/// the scene point for new nodes that have no other place. `core` must outlive the commands.
void addDocumentCommands(CommandHandlers& commands, CanvasCore& core, std::function<QPointF()> pointer);

class CanvasParts : public QObject {
  Q_OBJECT
 public:
  explicit CanvasParts(Canvas& canvas);
  ~CanvasParts() override;

  CanvasCore& core() { return m_core; }
  CanvasScene& scene() { return m_scene; }
  CanvasView& view() const { return *m_view; }
  const CommandHandlers& commands() const { return m_commands; }

  void setModel(DocumentModel* model);
  void reveal(document::NodeId id);
  /// Stacks the nodes that do not fit, and calls fitReadable().
  void fit();
  void setPlace(const CanvasPlace& place);
  void setMouse(const CanvasMouse& mouse);
  bool keepsFit() const { return m_keepsFit; }
  /// Whether the whole query is visible.
  bool isWhole() const;
  /// Returns the rectangle of the node, or of the stack that contains it, in the scene. Null: the node is not
  /// drawn.
  QRectF rectOf(document::NodeId id) const;
  /// Adds an operator without a popup. Without a point of the viewport, adds the operator at the selection.
  /// With a point, adds the operator there: to the node, to the wire, or as a new tree.
  void addNamed(const QString& op, std::optional<QPointF> viewportPoint = {});
  void addDocuments(const std::vector<TextFile>& files);
  /// Fits everything into the view as soon as there are nodes and the view has a size.
  void fitWhenReady();
  /// Gives the core the height in which all nodes can be drawn without stacks.
  void giveRoom();

 Q_SIGNALS:
  void editWanted(document::NodeId node);
  void commandWanted(const QString& id);
  void filesDropped(const QStringList& paths);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void connectParts();
  void addViewCommands();
  void layOutOverlays();
  bool keyPress(const QKeyEvent& event);
  /// Chooses the next reroute point of the wire above the current node. The arrow keys move this point.
  void chooseNextBend();
  /// Handles a key that moves the chosen reroute point or ends its choice. Returns whether the key did so.
  bool moveChosenBend(const QKeyEvent& event);
  void showContextMenu(const QContextMenuEvent& event);

  void openAdd(const AddPlace& place, QPointF viewportPoint);
  void openAddForSelection();
  /// Returns the place for a node that the keyboard adds: around several selected nodes, else placeFor().
  AddPlace placeForSelection() const;
  void add(const QString& op);
  AddPlace placeAt(QPointF scenePoint) const;
  bool takesDrag(const QMimeData& data) const;
  void drop(const QMimeData& data, QPointF viewportPoint);
  void rename();
  void renameArea(AreaRef area);
  /// Opens the editor for the text of a message on its card.
  void editInPlace(document::NodeId message);
  /// Moves the open editor with its card, and shows the current text of the message.
  void followEdited();
  QRect textPlaceOf(document::NodeId message) const;
  void bringSelectionIntoSight();
  /// Moves the view to show the nodes that were just added, which are selected. A root that was visible stays
  /// visible if the zoom allows it.
  void showAdded();
  void openStack(document::NodeId first);
  void restack(document::NodeId list);
  /// The spread list node that is selected, or whose child is selected; kNoNode if there is none.
  document::NodeId spreadList() const;
  /// Returns the area to show first: running nodes, else the current node, else the root. Null: there is
  /// none.
  QRectF focusRect() const;
  void takeDrawn();
  void noteDrawn();
  /// Moves the view after the layout changed, so that the visible nodes keep their places on the screen.
  void holdView();
  void takeStatuses();
  void updateStrip();
  /// Explains on an empty canvas how to begin.
  void updateGreeting();
  void updateMinimap();
  void showMinimap();
  /// Moves the minimap to the first corner in which the minimap covers no node.
  void placeMinimap();
  /// Moves the strip of the current answer to a place at an edge where the strip covers no node. If there is
  /// none, the strip is at the lower edge.
  void placeStrip();
  /// Whether no node is in this area of the canvas.
  bool isFree(const QRect& area) const;
  void zoomBy(double factor);
  /// Fits everything into the view. If the nodes would be too small to read, shows focusRect() instead.
  /// `grew`: nodes were added after the last fit.
  void fitReadable(bool grew = false);
  void fitAll();
  QRectF selectionRect() const;

  void openFind();
  void find(const QString& text);
  void findNext(bool backwards);

  Canvas& m_canvas;
  CanvasCore m_core;
  CanvasScene m_scene;
  CanvasView* m_view;
  CanvasGestures m_gestures;
  AddPopup* m_popup;
  FindBar* m_findBar;
  InlineEdit* m_lineEdit;
  NoteEdit* m_noteEdit;
  Minimap* m_minimap;
  AnswerStrip* m_strip;
  QLabel* m_greeting;
  CommandHandlers m_commands;
  AddPlace m_addPlace;
  /// The context menu was opened at this point of the wire above this node.
  std::optional<std::pair<document::NodeId, QPointF>> m_bendWanted;
  QPointF m_addPoint;                             ///< in viewport pixels
  document::NodeId m_edited = document::kNoNode;  ///< the message whose text is edited on its card
  std::vector<document::NodeId> m_hits;
  std::size_t m_hit = 0;
  bool m_fitPending = true;
  /// Everything stays fitted when the size changes, until the user moves the view.
  bool m_keepsFit = false;
  QTimer m_sayCut;  ///< until a message reports that the query is cut off
  bool m_isCutSaid = false;
  bool m_wasEmpty = true;
  bool m_minimapOn = true;
  struct Drawn {
    QRectF rect;
    bool isPlaced = false;  ///< the user placed the node or the top of its tree
  };
  std::map<document::NodeId, Drawn> m_drawn;  ///< the nodes as they were drawn last
  std::size_t m_documentSize = 0;             ///< nodes of the document at that time
  std::set<document::NodeId> m_running;
};

}  // namespace spanscope::ui
