// SPDX-License-Identifier: GPL-3.0-or-later
// What the canvas is put together from, and how the parts work with each other.
#pragma once

#include "ui/editor/add_popup.h"
#include "ui/editor/answer_strip.h"
#include "ui/editor/canvas.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_gestures.h"
#include "ui/editor/canvas_scene.h"
#include "ui/editor/canvas_view.h"
#include "ui/editor/node_commands.h"
#include "ui/editor/note_edit.h"
#include "ui/editor/overlays.h"

#include <QObject>
#include <QString>

#include <optional>
#include <set>
#include <vector>

class QContextMenuEvent;
class QKeyEvent;
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

  void setModel(document::DocumentModel* model);
  void reveal(document::NodeId id);
  void setPlace(const CanvasPlace& place);
  bool keepsFit() const { return m_keepsFit; }
  /// Adds an operator without asking: at the selected node, or at what lies under a point of the viewport.
  void addNamed(const QString& op, std::optional<QPointF> viewportPoint = {});
  /// Shows everything once there is something to show and room to show it in.
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
  void showContextMenu(const QContextMenuEvent& event);

  void openAdd(const AddPlace& place, QPointF viewportPoint);
  void openAddForSelection();
  void add(const QString& op);
  AddPlace placeAt(QPointF scenePoint) const;
  bool takesDrag(const QMimeData& data) const;
  void drop(const QMimeData& data, QPointF viewportPoint);
  void rename();
  void renameArea(AreaRef area);
  void bringSelectionIntoSight();
  /// What is selected and was just added, and the root with it where it was in sight.
  void showAdded();
  void openStack(document::NodeId first);
  void restack(document::NodeId list);
  /// The selected list, or that of the selected node, where it is spread; kNoNode: it is not.
  document::NodeId spreadList() const;
  /// What should be seen first: what runs, else what is selected, else the root. Null: nothing.
  QRectF focusRect() const;
  QRectF rectOf(document::NodeId id) const;
  void takeDrawn();
  void takeStatuses();
  void updateStrip();
  void updateMinimap();
  void showMinimap();
  void zoomBy(double factor);
  /// Everything, but not so small that nobody can read it: then what matters most of it.
  void fitReadable();
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
  CommandHandlers m_commands;
  AddPlace m_addPlace;
  QPointF m_addPoint;  ///< viewport
  std::vector<document::NodeId> m_hits;
  std::size_t m_hit = 0;
  bool m_fitPending = true;
  bool m_keepsFit = false;  ///< everything is shown, in any size, until the person looks elsewhere
  bool m_wasEmpty = true;
  bool m_minimapOn = true;
  QRectF m_root;  ///< where the root was drawn last; null: nowhere, or where a person has put it
  std::size_t m_drawnNodes = 0;
  std::set<document::NodeId> m_running;
};

}  // namespace spanscope::ui
