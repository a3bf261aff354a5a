// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/servers/server_list.h"
#include "ui/theme/theme.h"

#include <QDialog>

#include <string>
#include <vector>

class QListWidget;

namespace spanscope::ui {

/// Asks where the runs of one lesson go: to the embedded engine, or to a server of the list. The list shows
/// names and addresses, and the embedded engine is selected first. A lesson sends nothing to a server without
/// this choice.
class LessonServerDialog : public QDialog {
  Q_OBJECT
 public:
  /// `wanted`: the server that the lesson's query names; empty: none. The list may not have this server.
  LessonServerDialog(const std::vector<workbench::NamedServer>& servers, const std::string& wanted,
                     const Theme& theme, QWidget* parent = nullptr);

  /// The name of the chosen server; empty: the embedded engine.
  std::string server() const;

 private:
  QListWidget* m_list;
};

}  // namespace spanscope::ui
