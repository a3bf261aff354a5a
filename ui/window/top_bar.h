// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_table.h"
#include "ui/window/dock_host.h"
#include "ui/window/document_tabs.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>

namespace spanscope::policy {
struct Policy;
}
namespace spanscope::workbench {
struct FoundModel;
}

namespace spanscope::ui {

class Workspace;

/// The bar at the top of the window: menu, document tabs, the layouts, model and policy, Stop and Run.
class TopBar : public QWidget {
  Q_OBJECT
 public:
  TopBar(Workspace& workspace, QMenu* menu, QWidget* parent = nullptr);

  /// Shows the open documents, the current layout and the activity of the engine.
  void refresh(LayoutId layout, bool welcome);
  DocumentTabs& tabs() { return *m_tabs; }
  /// The room for everything in its shortest form. So a long name does not keep the window large.
  QSize minimumSizeHint() const override;
  void showModels() { m_model->showMenu(); }
  /// Sets the keys that tool tips name.
  void setKeys(const KeyBindings& keys);

 Q_SIGNALS:
  void commandWanted(const QString& id);
  void tabChosen(int index);
  void tabCloseWanted(int index);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeLayouts();
  QToolButton* makeLayoutMenu();
  static int widthWith(const QAbstractButton& button, const QString& text);
  /// The width of the menu button, a part of a tab and the button for a new document, pixels.
  int leastLeft() const;
  /// Shows a text on a drop-down, without the middle of the text if it is longer than `room` pixels.
  static void showText(QToolButton& button, const QString& text, int room);
  void makeRoom();
  void fillPolicies();
  void fillModels();
  /// Adds the models of other programs on this machine, a menu for each program.
  void addFoundModels(QMenu& menu);
  void addServers(QMenu& menu);
  /// The model found at a path; nullptr: no model was found there.
  const workbench::FoundModel* foundModel(const QString& directory) const;
  void fillDevices(QMenu& menu, const DocumentModel* model);
  /// A policy and its exactness on the model's device: "spans: block attention ✓ · full prefill ≈".
  QString policyText(const policy::Choice& policy) const;
  /// A policy and its brief description, then a tab and its exactness. Example of the last: "full prefill ≈".
  QString policyLine(const policy::Choice& policy) const;
  /// The default policy of the document's model, and the policy that a probe of this model recommends.
  QString policyAdvice() const;
  QToolButton* makeMenuButton(QMenu* menu);
  QToolButton* makeDropDown(const QString& name, const QString& help);

  Workspace& m_workspace;
  QToolButton* m_menu = nullptr;
  DocumentTabs* m_tabs = nullptr;
  QToolButton* m_add = nullptr;
  QToolButton* m_back = nullptr;
  QWidget* m_left = nullptr;        ///< the menu, the tabs and the arrows
  QWidget* m_switch = nullptr;      ///< the layouts
  QToolButton* m_layout = nullptr;  ///< the current layout with a menu; replaces m_switch
  QToolButton* m_forward = nullptr;
  QButtonGroup* m_layouts = nullptr;
  QToolButton* m_model = nullptr;
  QToolButton* m_policy = nullptr;
  QString m_policyWords;
  QPushButton* m_stop = nullptr;
  QPushButton* m_run = nullptr;
};

}  // namespace spanscope::ui
