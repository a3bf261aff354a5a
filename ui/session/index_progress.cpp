// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/index_progress.h"

#include "ui/words/tr.h"

namespace spanscope::ui {

QString progressText(const retrieve::IndexProgress& now) {
  switch (now.phase) {
    case retrieve::IndexPhase::Documents:
      return tr("Indexing: %1 of %2 documents, %3 new").arg(now.done).arg(now.total).arg(now.added);
    case retrieve::IndexPhase::Summaries:
      return tr("Summarizing: %1 of %2 summaries").arg(now.done).arg(now.total);
    case retrieve::IndexPhase::Vectors:
      return tr("Embedding: %1 of %2 passages").arg(now.done).arg(now.total);
  }
  return {};
}

}  // namespace spanscope::ui
