// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/experiment_model.h"

namespace spanscope::workbench {

experiment::ExperimentModel experimentModelOf(ModelBundle& bundle, const run::SessionConfig& config) {
  return {.name = bundle.name,
          .machine = bundle.backend->info().name,
          .decoder = *bundle.decoder,
          .backend = *bundle.backend,
          .tokenizer = bundle.tokenizer.get(),
          .chat = bundle.chat,
          .session = config,
          .open = [&bundle](const run::SessionConfig& wanted, trace::Sink& sink) {
            return makeSession(bundle, wanted, sink);
          }};
}

}  // namespace spanscope::workbench
