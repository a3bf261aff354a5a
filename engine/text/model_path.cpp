// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/model_path.h"

#include "engine/checkpoint/gguf/gguf_paths.h"

#include <system_error>

namespace spanscope::text {
namespace {

constexpr const char* kModel =
    "a Hugging Face model directory (config.json, *.safetensors, a tokenizer and its tokenizer_config.json) "
    "or a GGUF file";

}  // namespace

void requireModelPath(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return;
  if (checkpoint::isGguf(path)) return;
  if (std::filesystem::exists(status)) throw Failure({path.string(), "", "a file of another kind", kModel});
  const bool missing = status.type() == std::filesystem::file_type::not_found;
  throw Failure({path.string(), "",
                 missing ? "no such directory" : "a directory that cannot be read (" + error.message() + ")",
                 kModel});
}

}  // namespace spanscope::text
