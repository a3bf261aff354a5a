// SPDX-License-Identifier: GPL-3.0-or-later
// Puts the canvas together from its parts, and connects the parts with each other.
#pragma once

#include "ui/editor/add_rules.h"
#include "ui/editor/canvas.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_gestures.h"
#include "ui/editor/canvas_scene.h"
#include "ui/editor/canvas_view.h"
#include "ui/editor/node_commands.h"
#include "ui/editor/overlays.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <optional>
#include <set>
#include <vector>

class QContextMenuEvent;
class QKeyEvent;
class QLabel;
class QMimeData;

namespace spanscope::ui {

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
  /// Stacks what there is no room for, and fits everything into the view as long as it can be read.
  void fit();
  void setPlace(const CanvasPlace& place);
  void setMouse(const CanvasMouse& mouse);
  bool keepsFit() const { return m_keepsFit; }
  /// Whether all of the query is in sight.
  bool isWhole() const;
  /// In the scene: of the node, or of the stack that it lies in; null: it is not drawn.
  QRectF rectOf(document::NodeId id) const;
  /// Adds an operator without asking: at the selected node, or, if a point of the viewport is given, at what
  /// lies under it.
  void addNamed(const QString& op, std::optional<QPointF> viewportPoint = {});
  void addDocuments(const std::vector<TextFile>& files);
  /// Fits everything into the view as soon as there are nodes and the view has a size.
  void fitWhenReady();

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
  /// Chooses a reroute point of the wire above the current node for the arrow keys, one after the other.
  void chooseNextBend();
  /// Whether the key moved the chosen reroute point, or left it.
  bool moveChosenBend(const QKeyEvent& event);
  void showContextMenu(const QContextMenuEvent& event);

  void openAdd(const AddPlace& place, QPointF viewportPoint);
  void openAddForSelection();
  /// Where a node goes that the keyboard adds: around several selected nodes, else as placeFor() says.
  AddPlace placeForSelection() const;
  void add(const QString& op);
  AddPlace placeAt(QPointF scenePoint) const;
  bool takesDrag(const QMimeData& data) const;
  void drop(const QMimeData& data, QPointF viewportPoint);
  void rename();
  void renameArea(AreaRef area);
  /// Lets the user write the text of a message on its card.
  void editInPlace(document::NodeId message);
  /// Keeps the editor on its card, with the text that the message has.
  void followEdited();
  QRect textPlaceOf(document::NodeId message) const;
  void bringSelectionIntoSight();
  /// Moves the view to show the nodes that were just added. They are selected. If the root was in sight, it
  /// stays so.
  void showAdded();
  void openStack(document::NodeId first);
  void restack(document::NodeId list);
  /// The spread list node that is selected, or whose child is selected; kNoNode if there is none.
  document::NodeId spreadList() const;
  /// The area to show first: running nodes, else selected nodes, else the root. Null if there is none.
  QRectF focusRect() const;
  void takeDrawn();
  void noteDrawn();
  /// Keeps what the user sees in its place on the screen after the layout has changed.
  void holdView();
  void takeStatuses();
  void updateStrip();
  /// Says on an empty canvas how to begin.
  void updateGreeting();
  void updateMinimap();
  void showMinimap();
  void zoomBy(double factor);
  /// Fits everything into the view, unless it would be too small to read; then shows focusRect().
  /// `grew`: nodes were added to what was fitted.
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
  /// The wire above this node and the point of it for which the context menu was opened.
  std::optional<std::pair<document::NodeId, QPointF>> m_bendWanted;
  QPointF m_addPoint;                             ///< viewport
  document::NodeId m_edited = document::kNoNode;  ///< the message whose text is edited on its card
  std::vector<document::NodeId> m_hits;
  std::size_t m_hit = 0;
  bool m_fitPending = true;
  /// Everything stays fitted when the size changes, until the person moves the view.
  bool m_keepsFit = false;
  QTimer m_sayCut;  ///< until it is said that the query is cut off
  bool m_isCutSaid = false;
  bool m_wasEmpty = true;
  bool m_minimapOn = true;
  struct Drawn {
    QRectF rect;
    bool isPlaced = false;  ///< by the user: the node, or the top of its tree
  };
  std::map<document::NodeId, Drawn> m_drawn;  ///< the nodes as they were drawn last
  std::size_t m_documentSize = 0;             ///< nodes of the document at that time
  std::set<document::NodeId> m_running;
};

}  // namespace spanscope::ui
