// SPDX-License-Identifier: GPL-3.0-or-later
// Watches the caches of servers: the dialog that begins a watch, and the tabs that show it.
#pragma once

#include "engine/remote/watch/watch.h"
#include "engine/workbench/servers/server_list.h"
#include "ui/commands/command_table.h"
#include "ui/session/watch_source.h"
#include "ui/theme/theme.h"
#include "ui/window/window_parts.h"

#include <QDialog>
#include <QObject>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QToolButton;

namespace spanscope::ui {

/// The user's choices for a watch.
struct WatchChoice {
  QString url;     ///< address, or the name of a server of the list; empty: only events
  QString events;  ///< endpoints of KV events, separated by spaces; empty: none
  QString replay;  ///< endpoints of replays in the same order
  QString model;   ///< folder or file of the server's model; empty: no texts
  QString file;    ///< the trace file to record to; empty: none
  bool operator==(const WatchChoice&) const = default;
};

/// Makes the configuration of a watch. Reads the tokenizer and the key of a server of the list. Throws
/// Failure.
watch::WatchConfig watchConfigOf(const WatchChoice& choice, const workbench::ServerList& servers);
/// "vLLM 0.32.0 · 1204 events · 312 blocks cached": the state of a watch in a few words.
QString watchText(const watch::WatchState& state, bool hasBlocks);

/// A dialog with the choices of a watch.
class WatchDialog : public QDialog {
  Q_OBJECT
 public:
  WatchDialog(const WatchChoice& choice, const workbench::ServerList& servers, const QString& folder,
              QWidget* parent = nullptr);

  WatchChoice choice() const;
  /// Shows why a watch cannot begin.
  void complain(const QString& problem, const Theme& theme);

 Q_SIGNALS:
  /// The user wants to begin.
  void wanted();

 private:
  void chooseModel();
  void chooseFile();
  void showChoice();

  QString m_folder;
  QComboBox* m_url;
  QLineEdit* m_events;
  QLineEdit* m_replay;
  QLineEdit* m_model;
  QLineEdit* m_file;
  QLabel* m_problem;
  QPushButton* m_watch;
};

struct OpenDocument;

/// Opens a tab for each watched server. Every frame, the tab gets the events that have arrived.
class WatchController : public QObject {
  Q_OBJECT
 public:
  explicit WatchController(const WindowParts& parts, QObject* parent = nullptr);

  /// Adds the commands of watching.
  void addCommands(CommandHandlers& rows);
  /// Begins to watch a server. A tab opens when the server has answered. Throws Failure.
  void begin(const WatchChoice& choice);
  /// Shows the state of the current watch in the status line.
  void refresh();

 Q_SIGNALS:
  void changed();  ///< the state of the window's controls has changed
  void documentOpened(spanscope::ui::OpenDocument& document);

 private:
  struct Watched {
    std::uint32_t tab = 0;  ///< 0: the server has not answered yet
    QString title;
    std::shared_ptr<WatchSource> source;
  };

  void openDialog();
  void stopCurrent();
  Watched* current();  ///< the watch of the current tab; nullptr: none
  void drain();
  void show(Watched& watched);

  const WindowParts m_parts;
  QToolButton* m_state;  ///< in the status line; hidden unless the current tab watches a server
  std::vector<Watched> m_watched;
  QTimer m_frame;
};

}  // namespace spanscope::ui
