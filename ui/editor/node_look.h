// SPDX-License-Identifier: GPL-3.0-or-later
// What a node of the document looks like, apart from what the trace says of it: plain values to compare, so
// that only what changed is drawn again.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/stacking.h"
#include "ui/session/segment_identities.h"

#include <QString>
#include <QStringList>

#include <map>
#include <string>
#include <vector>

namespace spanscope::ui {

struct NodeLook {
  std::string op;
  QString title;       ///< role or operator
  QString name;        ///< the node's own; may be empty
  QString identity;    ///< "document 3", as other views call it; empty where there is one document alone
  QString text;        ///< of a leaf; of other cards what they do
  QString modelLine;   ///< of generates: "spanlet · temperature 0 · max 60"
  QString promise;     ///< of pills
  QString problem;     ///< "needs an input"; empty: none
  QStringList frozen;  ///< the answers that stand in, shortened; none: it is run
  bool pill = false;
  bool answers = false;  ///< a generate, repeat or map
  bool muted = false;    ///< or below one that is
  bool draft = false;    ///< not in the query
  bool hasParent = false;
  bool collapsed = false;
  int hidden = 0;         ///< nodes under a collapsed one
  int hue = -1;           ///< segment hue of the stripe, −1: none
  int stacked = 0;        ///< nodes that the card stands for; 0: for the one itself
  std::vector<int> hues;  ///< of a stack: those of its members, in order
  bool spread = false;    ///< a list of which all inputs are drawn though there is no room for them
  document::Rect rect;
  std::vector<double> inputs;  ///< heights from the top
  std::vector<bool> taken;     ///< whether each input has a child
  QStringList labels;          ///< of inputs: "3", "4–20" of a stack, "+"; empty: another one stands for it
  bool isFrozen() const { return !frozen.isEmpty(); }
  bool operator==(const NodeLook&) const = default;
};

/// Looks of all nodes of the layout; `stacks` are those it was made with.
std::map<document::NodeId, NodeLook> nodeLooks(const document::Document& document,
                                               const std::map<document::NodeId, document::Rect>& layout,
                                               const SegmentIdentities& identities,
                                               const Stacks& stacks = {});

/// "18 documents", "6 answers", "4 parts".
QString stackTitle(const document::Document& document, const Stack& stack);

/// Takes over a node in place of another that is laid out alike, has the same kind of operator and is muted
/// no differently: the rest of the look depends on these and on other nodes only.
/// `checkpoint`: name of the one that the document runs on.
void setOwnLook(NodeLook& look, const document::DocumentNode& node, const std::string& checkpoint);

/// What is wrong with a node in a few words ("needs an input"); empty: nothing.
QString nodeProblem(const document::Document& document, document::NodeId id);

/// Title and name as they are read: "user · document 1".
QString nodeTitle(const document::DocumentNode& node);
/// The text a person would look for in the node: title, name and all texts.
QString nodeSearchText(const document::DocumentNode& node);
/// "spanlet · temperature 0 · max 60", "gpt-4 → spanlet · …" where it names another model than the checkpoint
/// it runs on (empty: not known); empty for nodes that do not generate.
QString modelLine(const query::Node& own, const std::string& checkpoint = {});

}  // namespace spanscope::ui
