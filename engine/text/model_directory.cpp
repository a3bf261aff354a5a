// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/model_directory.h"

#include "engine/checkpoint/gguf/gguf_paths.h"

#include <system_error>

namespace spanscope::text {
namespace {

constexpr const char* kDirectory =
    "a Hugging Face model directory (config.json, *.safetensors, a tokenizer and its tokenizer_config.json) "
    "or a "
    "GGUF file";

}  // namespace

void requireModelDirectory(const std::filesystem::path& directory) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(directory, error);
  if (std::filesystem::is_directory(status)) return;
  if (checkpoint::isGguf(directory)) return;
  if (std::filesystem::exists(status))
    throw Failure({directory.string(), "", "a file of another kind", kDirectory});
  const bool missing = status.type() == std::filesystem::file_type::not_found;
  throw Failure({directory.string(), "",
                 missing ? "no such directory" : "a directory that cannot be read (" + error.message() + ")",
                 kDirectory});
}

}  // namespace spanscope::text
