import { handlers } from "@/lib/queue";
export const { GET, POST, PUT, PATCH, DELETE } = handlers;
