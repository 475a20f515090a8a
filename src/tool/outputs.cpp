// See outputs.h.
#include "tool/outputs.h"

#include "tool/failure.h"

namespace tool {

Outputs::Outputs(std::vector<OutputName> names, bool overwrite) : names_(std::move(names)) {
    for (const OutputName &name : names_) {
        for (const auto &other : files_)
            if (other && !name.path.empty() && same_file(name.path, other->path()))
                usage(quoted(name.path) + " is named for two outputs");
        files_.push_back(name.path.empty() ? nullptr : std::make_unique<OutputFile>(name.path, overwrite));
    }
}

OutputFile *Outputs::find(std::string_view key) const {
    for (size_t i = 0; i < names_.size(); ++i)
        if (key == names_[i].key) return files_[i].get();
    return nullptr;
}

void Outputs::commit() {
    size_t done = 0;
    try {
        for (; done < files_.size(); ++done)
            if (files_[done]) files_[done]->commit();
    } catch (...) {
        while (done-- > 0)
            if (files_[done]) files_[done]->withdraw();
        throw;
    }
}

void Outputs::print(Json &json) const {
    json.key("outputs").object();
    for (const OutputName &name : names_) json.file(name.key, name.path);
    json.end_object();
}

}  // namespace tool
