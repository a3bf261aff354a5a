// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts of the canvas share: the document as it is drawn, where its nodes stand, what the trace says
// of them, and what is selected. Every change of the document goes through here.
#pragma once

#include "ui/document/document_model.h"
#include "ui/editor/node_forecast.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_status.h"
#include "ui/editor/stacking.h"
#include "ui/session/view_input.h"

#include <QObject>
#include <QPointer>
#include <QString>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace spanscope::ui {

/// A frame or a note.
struct AreaRef {
  enum class Kind { None, Frame, Note };
  Kind kind = Kind::None;
  std::uint32_t id = 0;
  bool operator==(const AreaRef&) const = default;
};

class CanvasCore : public QObject {
  Q_OBJECT
 public:
  explicit CanvasCore(QObject* parent = nullptr);

  void setModel(document::DocumentModel* model);
  document::DocumentModel* model() const { return m_model; }
  void setInput(const ViewInput& input);
  const ViewInput* input() const { return m_input ? &*m_input : nullptr; }
  const Theme& theme() const { return m_theme; }

  /// The document as it is; an empty one without a model and an input.
  const document::Document& document() const { return *m_document; }
  /// As it is drawn: with the gesture that is under way.
  const document::Document& drawn() const { return m_preview ? *m_preview : *m_document; }
  const std::map<document::NodeId, document::Rect>& layout() const { return m_layout; }
  const std::map<document::NodeId, NodeLook>& looks() const { return m_looks; }
  const Stacks& stacks() const { return m_stacks; }
  const document::Rect* rectOf(document::NodeId id) const;  ///< nullptr: not drawn
  const NodeStatus& statusOf(document::NodeId id) const;
  /// Of everything in a stack together: tokens, how they were served, and whether some of it runs or failed.
  NodeStatus statusOf(const Stack& stack) const;
  const NodeStatuses& statuses() const { return m_statuses; }
  /// What the next run will find otherwise than the shown one; nullptr: nothing, or it is not shown.
  /// Forecasts stand beside the newest state only, and not while a run is under way.
  const NodeForecast* forecastOf(document::NodeId id) const;
  void setForecastsShown(bool shown);
  bool areForecastsShown() const { return m_forecastsShown; }
  /// What a tool tip says of the node: how its tokens were served and will be; empty: neither is known.
  QString tipOf(document::NodeId id) const;

  /// The height in scene pixels that trees should keep to by stacking; 0: as high as they like.
  void setRoom(double height);
  /// Draws all inputs of a list node, or stacks them again where there is no room.
  void setSpread(document::NodeId list, bool spread);
  bool isSpread(document::NodeId list) const { return m_wishes.opened.contains(list); }
  /// Stacks again what was spread.
  void stackAll();
  /// Opens the stack: all its members are drawn.
  void open(const Stack& stack);
  /// The stack that is selected as a whole, and nothing else; nullptr: none.
  const Stack* selectedStack() const;

  /// Shows what a gesture would make of the document; nothing ends it.
  void setPreview(std::optional<document::Document> preview);
  bool hasPreview() const { return m_preview.has_value(); }

  /// One undoable command. False without a model or where nothing changed.
  bool change(const QString& name, const std::function<void(document::Document&)>& change);

  const std::vector<document::NodeId>& selection() const { return m_selection; }
  document::NodeId current() const { return m_selection.empty() ? document::kNoNode : m_selection.back(); }
  bool isSelected(document::NodeId id) const;
  void select(std::vector<document::NodeId> nodes);
  AreaRef selectedArea() const { return m_area; }
  void selectArea(AreaRef area);
  /// Shows another answer of the node: the next copy of its step.
  void showNextAnswer(document::NodeId node);

  /// Nodes have been added and selected: they should be seen.
  void tellAdded();
  void say(const QString& text) { Q_EMIT messageWanted(text); }

 Q_SIGNALS:
  void drawnChanged();  ///< another document or layout is drawn
  /// The same nodes at the same places, but what these say is another.
  void looksChanged(const std::vector<spanscope::document::NodeId>& nodes);
  void statusesChanged();   ///< or forecasts
  void selectionChanged();  ///< of nodes or areas
  void themeChanged();
  void added();
  void selectionWanted(const spanscope::ui::Selection& selection);
  void messageWanted(const QString& text);

 private:
  void takeDocument(std::shared_ptr<const document::Document> document);
  void redraw();
  SegmentIdentities identities();
  /// Gives nodes the numbers and hues that they have now; the layout stays.
  void takeIdentities();
  /// Decides anew which nodes are stacked. True: others than before.
  bool restack();
  /// Draws on its own what is selected or runs. True: something else is stacked than before.
  bool showWanted();
  std::set<document::NodeId> wanted() const;
  /// The nodes that differ where nothing but what single nodes say does.
  std::optional<std::vector<document::NodeId>> editedInPlace(const document::Document& before) const;
  void redrawNodes(const std::vector<document::NodeId>& nodes);
  void takeForecast();
  /// Gives texts that no run has shown yet the count that they will have in the prompt, with what the
  /// template puts around them.
  void countFromForecast(NodeStatuses& statuses) const;
  void updateStatuses();
  void updateStatuses(const std::vector<document::NodeId>& nodes);

  QPointer<document::DocumentModel> m_model;
  std::optional<ViewInput> m_input;
  Theme m_theme;
  std::shared_ptr<const document::Document> m_document;
  std::optional<document::Document> m_preview;
  SegmentBook m_book;
  SegmentIdentities m_identities;  ///< that the looks were made with
  TraceStore m_noTrace;            ///< before there is an input
  std::size_t m_runs = 0;          ///< of the trace, when they were read
  StackWishes m_wishes;
  std::size_t m_stackLimit = 0;
  Stacks m_stacks;
  std::map<document::NodeId, document::Rect> m_layout;
  std::map<document::NodeId, NodeLook> m_looks;
  NodeStatuses m_statuses;
  NodeStatusCache m_statusCache;
  std::shared_ptr<const document::Document> m_statusDocument;  ///< that m_statuses was computed for
  std::shared_ptr<const Forecast> m_forecast;                  ///< that m_forecasts was read from
  NodeForecasts m_forecasts;
  std::shared_ptr<const Forecast> m_counted;                ///< that m_promptTokens was read from
  std::map<document::NodeId, std::int64_t> m_promptTokens;  ///< of texts, in the next run's prompt
  bool m_forecastsShown = true;
  std::vector<document::NodeId> m_selection;
  AreaRef m_area;
};

}  // namespace spanscope::ui
